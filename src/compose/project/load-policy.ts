/**
 * Loads the policy of a recourse.yaml for a gateway inside a program. The whole file is checked, as `recourse check`
 * does.
 */
import path from 'node:path';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Policy } from '../../core/policy/policy.ts';

export interface LoadPolicyOptions {
  /** For `${NAME}`; that of the process if not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Called with each warning, such as a key that is not enforced. The default prints a line on standard error. */
  readonly onWarning?: (warning: string) => void;
}

/** Throws a GatewayError with every problem: nothing may start with an invalid file. */
export async function loadPolicy(file = 'recourse.yaml', options: LoadPolicyOptions = {}): Promise<Policy> {
  const { env, onWarning = printWarning } = options;
  // Loaded here, because a gateway without a file does not need it.
  const { loadProject } = await import('./load-project.ts');
  const loaded = await loadProject({
    cwd: process.cwd(),
    file: path.resolve(file),
    ...(env === undefined ? {} : { env }),
  });
  if (!loaded.ok) {
    const told = loaded.problems.map(
      ({ file: at, line, column, message, fix }) => `${at}:${line}:${column} ${message}; ${fix}`,
    );
    throw new GatewayError('bad_options', told.join('\n'));
  }
  const { policy, warnings } = loaded.project;
  if (policy === null) throw new GatewayError('bad_options', `'${file}' declares no agents: add the key agents`);
  const { checkErrors } = await import('./check-errors.ts');
  for (const { file: at, line, message } of [...checkErrors(loaded.project), ...warnings])
    onWarning(`${at}:${line} ${message}`);
  return policy;
}

function printWarning(warning: string): void {
  process.stderr.write(`recourse: ${warning}\n`);
}
