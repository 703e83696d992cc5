/**
 * The files of the policy as they are on disk now, for operators: the lines that a policy is written in, and what
 * `recourse check` says about them. Changes nothing. Must not show what other sections hold.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { PolicyFile, ToldPlace } from '../../../core/policy/look/policy-file.ts';
import type { Warning } from '../../../config/problem.ts';
import { policyLines } from '../../../core/policy/look/policy-text.ts';
import { readText } from '../../project/read-project-files.ts';
import type { Governance } from '../governance.ts';

/** Reads at most once at a time; checks again only if a file has changed, because a check loads modules. */
export function createPolicyFile(governance: Governance, cwd: string): () => Promise<PolicyFile> {
  let checked: { readonly of: string; readonly told: Promise<Told> } | null = null;
  const check = (of: string): Promise<Told> => {
    if (checked?.of !== of) {
      const told = checkNow(governance);
      checked = { of, told };
      // A check that failed is not kept; whoever asked for it hears why.
      told.catch(() => (checked = null));
    }
    return checked.told;
  };
  return async () => {
    const project = governance.project();
    const main = project.file;
    if (main === null) return { mode: null, in_force: true, files: [], problems: [] };
    // A lock holds no policy.
    const written = project.files.filter((file) => !file.endsWith('.lock'));
    const texts = await Promise.all(written.map(async (file) => ({ file, read: await readText(file) })));
    const whole = createHash('sha256');
    for (const { file, read } of texts) whole.update(JSON.stringify([file, read.ok ? read.text : read.message]));
    whole.update(project.policy?.canonical ?? '');
    const { problems, isInForce } = await check(whole.digest('hex'));
    const nameOf = (file: string) => path.relative(path.dirname(main), path.resolve(cwd, file)) || path.basename(main);
    return {
      mode: project.policy?.written.mode ?? null,
      in_force: isInForce,
      files: texts.flatMap(({ file, read }) => (read.ok ? [{ file: nameOf(file), ...policyLines(read.text) }] : [])),
      problems: problems.map((each) => ({ ...each, file: nameOf(each.file) })),
    };
  };
}

interface Told {
  readonly problems: readonly ToldPlace[];
  readonly isInForce: boolean;
}

async function checkNow(governance: Governance): Promise<Told> {
  const { problems, warnings, policy } = await governance.check();
  const inForce = governance.current();
  return {
    problems: [...problems.map(told('error')), ...warnings.map(told('warning'))],
    isInForce: policy?.canonical === inForce?.canonical && policy?.written.mode === inForce?.written.mode,
  };
}

/** INVARIANT: no line of a file goes with a problem: somebody may have written a secret into it. */
const told =
  (severity: ToldPlace['severity']) =>
  ({ file, line, column, message, fix }: Warning): ToldPlace => ({ severity, file, line, column, message, fix });
