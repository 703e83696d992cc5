/** Checks that a release covers the playbook of a project, before it is put in force. */
import type { Problem } from '../../config/problem.ts';
import { operatorTenant } from '../../core/call/identity.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { coverPlaybook, forcePlaybook } from '../../shell/improvement/cover-playbook.ts';
import type { Shell } from '../../shell/shell.ts';
import type { Project } from '../project/load-project.ts';
import { recoveryOf } from '../upstreams/tool-recovery.ts';
import { playbookText } from './playbook-text.ts';

export const textOfPlaybook = ({ config, models }: Project): string => playbookText(recoveryOf(config, models));

/** Empty if a release covers it, or the store adopts it as the first. A project without a file declares nothing. */
export async function uncoveredIn(project: Project, by: string, shell: Shell): Promise<readonly Problem[]> {
  if (project.file === null) return [];
  const covered = await coverPlaybook(textOfPlaybook(project), { tenant: operatorTenant, name: by }, shell);
  if (covered === 'unrecorded')
    throw new GatewayError('not_writable', 'the store could not record which playbook is in force: try again');
  return covered === 'uncovered' ? [problemAt(project)] : [];
}

/** False if it could not be recorded: then the playbook must not be put in force. */
export const forceUncovered = (project: Project, by: string, shell: Shell): Promise<boolean> =>
  forcePlaybook(textOfPlaybook(project), { tenant: operatorTenant, name: by }, shell);

const code = 'ConfigSchemaViolation';
const message = 'no release covers what it says about failures (playbook, retry, reconcile, breaker)';

function problemAt({ file, config }: Project): Problem {
  const [place] = config.playbook.places.values();
  const { file: named, line, column } = place ?? { file: file ?? 'recourse.yaml', line: 1, column: 1 };
  const fix =
    'release it: recourse feedback propose <feedback> --changed recourse.yaml, then recourse feedback release';
  return { code, file: named, line, column, text: '', message, fix };
}

export const isUncovered = (problem: Pick<Problem, 'message'>): boolean => problem.message === message;
