/** What does a check of a project's files need of the world beside them? Its store, and who has a key to approve. Makes nothing. */
import { nodeClock } from '../../adapters/system-node/clock.ts';
import { findStore } from '../state/find-store.ts';
import type { ProjectRequest } from './load-project.ts';

export function checkedPlaces(
  config: string | undefined,
): Required<Pick<ProjectRequest, 'storeOf' | 'approversBeside'>> {
  const storeOf = async (): Promise<string | null> => {
    const stored = await findStore({ file: process.env['RECOURSE_FILE'] || undefined, config });
    return stored.kind === 'refused' ? null : stored.file;
  };
  return {
    storeOf,
    async approversBeside() {
      const [store, { approversBeside }] = await Promise.all([storeOf(), import('../state/approvers-beside.ts')]);
      return store === null ? null : approversBeside(store, nodeClock.nowMs());
    },
  };
}
