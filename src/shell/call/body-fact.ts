/** A body makes a call: of which step is it the body, and what is in doubt in the session of that step? Only reads. */
import type { Facts } from '../../core/gates/facts.ts';
import { fencesOf } from '../session/position.ts';
import type { BodyOf, Shell } from '../shell.ts';

/** Nothing where no body asks, or one that is no step of a workflow. */
export async function bodyFact(bodyOf: BodyOf | undefined, shell: Shell): Promise<Pick<Facts, 'body'>> {
  const id = bodyOf?.session ?? null;
  const session = id === null ? null : await shell.ports.store.session(id);
  const workflow = shell.workflows.get(session?.workflow?.name ?? '');
  if (session === null || workflow === undefined) return {};
  return { body: { workflow, fences: await fencesOf(session.id, shell) } };
}
