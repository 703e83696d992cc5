/** Starts the extensions of a project for a process that serves it, and stops them after its gateway. */
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { Problem } from '../../config/problem.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Project } from '../project/load-project.ts';
import type { LastingGateway } from '../serve/keep-open.ts';
import { quietly } from '../serve/print-notices.ts';
import { type Running, startExtensions } from './start-extensions.ts';

/** Problems, each at its place, if one did not start that something in the file uses. */
export async function startForProject(
  { extensions, config }: Pick<Project, 'extensions' | 'config'>,
  notify: Notifier,
): Promise<Running | { readonly problems: readonly Problem[] }> {
  const running = await startExtensions(extensions, {
    clock: nodeClock,
    notify: quietly(notify),
    dns: config.runtime.dns,
  });
  const refusals = running.refusals();
  if (refusals.length === 0) return running;
  await running.stop();
  const problems = refusals.map(({ extension, code, message, fix }): Problem => {
    const { file, line, column } = extensions.order.find(({ name }) => name === extension)?.at ?? nowhere;
    return { code, file, line, column, text: '', message, fix };
  });
  return { problems };
}

const nowhere = { file: 'recourse.yaml', line: 1, column: 1 };

/** The same, where there is nobody to show problems to. */
export async function mustStart(project: Pick<Project, 'extensions' | 'config'>, notify: Notifier): Promise<Running> {
  const running = await startForProject(project, notify);
  if (!('problems' in running)) return running;
  const says = running.problems.map(({ file, line, message, fix }) => `${file}:${line}: ${message}; ${fix}`);
  throw new GatewayError('extension', says.join('\n'), 'LifecycleFailure');
}

/** INVARIANT: extensions stop after everything that uses them, and also if that could not be opened. */
export async function openWith(running: Running, open: () => Promise<LastingGateway>): Promise<LastingGateway> {
  try {
    const gateway = await open();
    return { current: gateway.current, close: (options) => gateway.close(options).finally(() => running.stop()) };
  } catch (error) {
    await running.stop();
    throw error;
  }
}
