/**
 * Holds the policy in force and replaces it. The whole project is read and checked again. It is swapped between two
 * calls, and only if everything is valid and nothing but policy and playbook has changed. A failed attempt changes nothing.
 */
import type { Config } from '../../config/config.ts';
import type { Problem, Warning } from '../../config/problem.ts';
import { diffPolicies } from '../../core/policy/diff/diff-policies.ts';
import type { PolicyChange } from '../../core/policy/diff/policy-change.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { textOfPlaybook } from '../improvement/cover-project.ts';
import type { LoadedProject, Project } from '../project/load-project.ts';

export type Applied =
  | {
      readonly ok: true;
      readonly changed: boolean;
      readonly policy: Policy | null;
      /** What differs from the one before, weakenings first. */
      readonly changes: readonly PolicyChange[];
    }
  /** `forcible`: it is valid except for errors of `recourse check`, so `force` would apply it. */
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly forcible: boolean };

export interface Checked {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
  /** What would be in force; null without agents, or if the files cannot be read. */
  readonly policy: Policy | null;
}

export interface Governance {
  current(): Policy | null;
  project(): Project;
  /** Errors of `recourse check` in the project in force, which was forced. */
  forced(): readonly Problem[];
  /** What `recourse check` says about the files as they are now. Changes nothing. */
  check(): Promise<Checked>;
  /** `by` is who asks for it. `force`: apply it in spite of errors, which are recorded. Runs one at a time. */
  apply(by: string, force: boolean): Promise<Applied>;
}

export interface GovernanceParts {
  readonly load: () => Promise<LoadedProject>;
  /** What `recourse check` calls an error. */
  readonly errorsIn: (project: Project) => Promise<readonly Problem[]>;
  /** False if it could not be recorded. */
  readonly record: (change: RecordedChange) => Promise<boolean>;
}

export interface RecordedChange {
  readonly next: Policy | null;
  readonly last: Policy | null;
  readonly by: string;
  readonly project: Project;
  /** The playbook is another. */
  readonly isOtherPlaybook: boolean;
  /** The errors in spite of which it was applied. */
  readonly forced: readonly Problem[];
}

/** `insisted`: errors in spite of which the first project was started. */
export function createGovernance(
  first: Project,
  { load, errorsIn, record }: GovernanceParts,
  insisted: readonly Problem[] = [],
): Governance {
  let project = first;
  let forced = insisted;
  let turn: Promise<unknown> = Promise.resolve();

  const apply = async (by: string, force: boolean): Promise<Applied> => {
    const loaded = await load();
    if (!loaded.ok) return { ...loaded, forcible: false };
    const next = loaded.project;
    const fixed = fixedParts(project.config, next.config);
    if (fixed.length > 0)
      return refused(
        project,
        `${fixed.join(' and ')} changed, and only agents and playbook can change while it runs`,
        'restart recourse up',
      );
    const errors = await errorsIn(next);
    if (errors.length > 0 && !force) return { ok: false, problems: errors, forcible: true };
    const changed = isOtherPolicy(next.policy, project.policy);
    if (next.policy === null && project.policy !== null)
      return refused(
        project,
        'agents is gone, and without it everything would be permitted',
        'keep agents, or restart recourse up',
      );
    const isOtherPlaybook = textOfPlaybook(next) !== textOfPlaybook(project);
    const change = { next: next.policy, last: project.policy, by, forced: errors, project: next, isOtherPlaybook };
    if ((changed || isOtherPlaybook || errors.length > 0) && !(await record(change)))
      return refused(project, 'the store could not record the change, so it was not made', 'ask again in a moment');
    // INVARIANT: one assignment; a call is decided by the old policy or by the new one, never by parts of both.
    const changes = [...diffPolicies(project.policy, next.policy), ...(isOtherPlaybook ? [otherPlaybook] : [])];
    project = next;
    forced = errors;
    return { ok: true, changed: changed || isOtherPlaybook, policy: next.policy, changes };
  };

  return {
    current: () => project.policy,
    project: () => project,
    forced: () => forced,
    async check() {
      const loaded = await load();
      if (!loaded.ok) return { problems: loaded.problems, warnings: loaded.warnings, policy: null };
      const { warnings, policy } = loaded.project;
      return { problems: await errorsIn(loaded.project), warnings, policy };
    },
    apply(by, force) {
      const mine = turn.then(() => apply(by, force));
      // Ignored: whoever asked for it hears the error; the next one only waits for the end.
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

const otherPlaybook: PolicyChange = {
  change: 'changed',
  agent: null,
  details: [{ says: 'the playbook is another: recourse playbook show', direction: 'other' }],
};

/**
 * What a running process cannot change: servers with their tools, workflows, store, address, webhooks and credentials.
 * Compared as JSON, which shows the text of expressions and no places. The playbook of the gateway can change.
 */
function fixedParts(was: Config, is: Config): readonly string[] {
  const { mode: _was, ...runtimeWas } = was.runtime;
  const { mode: _is, ...runtimeIs } = is.runtime;
  const parts = [
    ['runtime', runtimeWas, runtimeIs],
    ['tools', was.tools.map(withoutPlace), is.tools.map(withoutPlace)],
    ['workflows', was.workflows.map(written), is.workflows.map(written)],
    ['notify', was.notify, is.notify],
    ['credentials', was.credentials, is.credentials],
  ] as const;
  return parts.filter(([, before, after]) => JSON.stringify(before) !== JSON.stringify(after)).map(([name]) => name);
}

const withoutPlace = ({ at: _at, ...server }: Config['tools'][number]) => server;

/** Without places: a moved line is not a change. */
function written(workflow: Config['workflows'][number]): unknown {
  return workflow.kind === 'module' ? [workflow.name, workflow.path] : [workflow.name, workflow.definition];
}

const isOtherPolicy = (next: Policy | null, last: Policy | null): boolean =>
  next?.canonical !== last?.canonical || next?.written.mode !== last?.written.mode;

function refused(project: Project, message: string, fix: string): Applied {
  const place = { file: project.file ?? 'recourse.yaml', line: 1, column: 1 };
  const problem = { code: 'ConfigSchemaViolation', ...place, text: '', message, fix } as const;
  return { ok: false, problems: [problem], forcible: false };
}
