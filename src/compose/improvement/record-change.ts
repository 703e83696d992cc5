/** Checks and records a change of what is in force beside a gateway that runs: policy, playbook, and what was forced. */
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Problem } from '../../config/problem.ts';
import { forceUncovered, isUncovered, textOfPlaybook, uncoveredIn } from './cover-project.ts';
import { checkErrors } from '../project/check-errors.ts';
import type { Project } from '../project/load-project.ts';
import { liveTools } from '../upstreams/list-servers.ts';
import type { RecordedChange } from '../serve/governance.ts';
import type { LastingGateway } from '../serve/keep-open.ts';

const modeNotices = {
  audit: 'AUDIT MODE from here on: policy is recorded and NOT enforced; every call that it denies runs.',
  enforce: 'policy is enforced from here on.',
} as const;

/** What stops an apply unless it is forced: errors of `recourse check`, and a playbook that no release covers. */
export async function errorsBeside(next: Project, gateway: LastingGateway): Promise<readonly Problem[]> {
  const { upstreams, shell } = gateway.current();
  return [...checkErrors(next, liveTools(upstreams)), ...(await uncoveredIn(next, 'recourse apply', shell))];
}

interface Starting {
  readonly gateway: LastingGateway;
  readonly force: boolean;
  readonly onTrouble: (problem: string) => void;
}

/**
 * What stops a start: a playbook that no release covers. With force nothing does, and it is recorded with `errors`, to
 * which it is added.
 */
export async function judgeStart(project: Project, errors: Problem[], starting: Starting): Promise<readonly Problem[]> {
  const { gateway, force, onTrouble } = starting;
  const uncovered = await uncoveredIn(project, 'recourse up', gateway.current().shell);
  if (uncovered.length > 0 && !force) return uncovered;
  errors.push(...uncovered);
  if (errors.length > 0 && !(await recordChange(forcedStart(project, errors), gateway, onTrouble)))
    throw new GatewayError('not_writable', 'the store could not record that errors were forced: try again');
  return [];
}

const forcedStart = (project: Project, forced: readonly Problem[]): RecordedChange => ({
  next: project.policy,
  last: null,
  by: 'recourse up --force',
  project,
  isOtherPlaybook: false,
  forced,
});

/** False if it could not be recorded: then nothing may be put in force. */
export async function recordChange(
  { next, last, by, project, isOtherPlaybook, forced }: RecordedChange,
  gateway: LastingGateway,
  onTrouble: (problem: string) => void,
): Promise<boolean> {
  const { recordPolicy } = await import('../../shell/upkeep/record-runtime.ts');
  const { shell } = gateway.current();
  const sentences = forced.map(({ file, line, message }) => `${file}:${line} ${message}`);
  if (forced.some(isUncovered) && !(await forceUncovered(project, by, shell))) return false;
  const playbook = isOtherPlaybook ? textOfPlaybook(project) : null;
  const recorded = await recordPolicy({ next, last, by, forced: sentences, playbook }, shell);
  // A change of mode is printed, as the mode is at the start.
  if (recorded && next !== null && last !== null && next.written.mode !== last.written.mode)
    onTrouble(modeNotices[next.written.mode]);
  return recorded;
}
