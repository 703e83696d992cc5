/**
 * Checks that a release covers a playbook before it is put in force. A store without steps adopts the first playbook
 * that it meets: what was in force when there was no release yet counts as released.
 */
import { unreachable } from '../../core/values/unreachable.ts';
import type { Shell } from '../shell.ts';
import { appendStep, type Improver } from './improvements.ts';
import { readImprovements } from './read-improvements.ts';

/** `unrecorded`: the store could not take the step. */
export type Covered = 'covered' | 'adopted' | 'uncovered' | 'unrecorded';

/** `text`: the canonical text of the playbook. */
export async function coverPlaybook(text: string, by: Improver, shell: Shell): Promise<Covered> {
  const hash = shell.ports.sha256(text);
  const { released } = await readImprovements(shell.ports.store, shell.ports.sha256);
  if (released !== null) return released === hash ? 'covered' : 'uncovered';
  const made = await appendStep(
    (chain) =>
      chain.released === null
        ? { step: { kind: 'playbook_adopted', playbook: hash } as const, note: '', blobs: [{ hash, text }] }
        : { ok: false, problem: 'moved_on', message: 'a playbook was adopted meanwhile' },
    by,
    shell,
  );
  if (made.ok) return 'adopted';
  switch (made.problem) {
    case 'moved_on':
      return coverAgain(hash, shell);
    case 'outcome_unknown':
    case 'store_unavailable':
    case 'not_found':
    case 'breaks_goldens':
    case 'bad_change':
      return 'unrecorded';
    default:
      return unreachable(made.problem);
  }
}

/** Another process was first. */
async function coverAgain(hash: string, { ports }: Shell): Promise<Covered> {
  const { released } = await readImprovements(ports.store, ports.sha256);
  return released === hash ? 'covered' : 'uncovered';
}

/** Puts on record that a playbook is in force without a release. False if it could not be recorded. */
export async function forcePlaybook(text: string, by: Improver, shell: Shell): Promise<boolean> {
  const hash = shell.ports.sha256(text);
  const blobs = [{ hash, text }];
  const step = { kind: 'playbook_forced', playbook: hash } as const;
  return (await appendStep(() => ({ step, note: '', blobs }), by, shell)).ok;
}
