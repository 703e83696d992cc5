/**
 * Serves one workflow over standard input and output until the client is gone or the person ends it. Standard output carries
 * messages and nothing else, whatever the author's code prints. Must not print anything itself.
 */
import path from 'node:path';
import { Writable } from 'node:stream';
import type { Problem } from '../config/problem.ts';
import { serveStdio } from '../doors/mcp/serve-stream.ts';
import type { Notifier } from '../ports/notifier.ts';
import { loadProject } from './load-project.ts';
import { createSeal } from './seal.ts';
import { openMcpDoor } from './serve-door.ts';
import { keepOpen } from './serve-gateway.ts';
import { type OpenForServing, type Refused, refusalOf, serversFor, servingOptions } from './serve-options.ts';

export interface ServeOrder {
  /** A name in the configuration, or the path of a module. */
  readonly workflow: string;
  readonly config: string | undefined;
  readonly file: string | undefined;
  readonly agent: string;
  readonly mode: 'step' | 'tools';
  readonly version: string;
  readonly onNotice: Notifier;
  readonly onServing: (serving: { readonly workflow: string; readonly file: string; readonly role: string }) => void;
  readonly onTrouble: (problem: string) => void;
  /** Calls back when the person ends it; returns how to stop listening. */
  readonly onStop: (callback: () => void) => () => void;
}

export type ServeEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  | Refused;

export async function serveWorkflow(order: ServeOrder, open: OpenForServing): Promise<ServeEnd> {
  // Before the author's code is loaded: it may print, and take its time.
  const { output, giveBack } = takeStandardOutput();
  let stopped = false;
  let stop = (): void => void (stopped = true);
  const stopListening = order.onStop(() => stop());
  try {
    return await serve(order, open, output, {
      isStopped: () => stopped,
      onStop: (callback) => void (stop = callback),
    });
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === null) throw error;
    return refused;
  } finally {
    stopListening();
    giveBack();
  }
}

interface Stopping {
  readonly isStopped: () => boolean;
  readonly onStop: (callback: () => void) => void;
}

async function serve(
  order: ServeOrder,
  open: OpenForServing,
  output: Writable,
  { isStopped, onStop }: Stopping,
): Promise<ServeEnd> {
  const loaded = await loadProject({
    cwd: process.cwd(),
    workflowArgument: order.workflow,
    ...(order.config === undefined ? {} : { file: order.config }),
  });
  if (!loaded.ok) return { kind: 'problems', problems: loaded.problems };
  const { project } = loaded;
  const [workflow] = project.workflows;
  if (workflow === undefined) throw new Error('bug: a project without problems has the workflow that was asked for');
  const options = servingOptions(project, serversFor(order.workflow, project.config), order);
  const say = (role: string) => order.onServing({ workflow: workflow.name, file: path.resolve(options.file), role });
  const gateway = await keepOpen({
    open: () => open(options),
    file: options.file,
    onSuccession: say,
    onFailure: order.onTrouble,
  });
  if (!isStopped()) {
    const who = { tenant: 'default', agent: order.agent };
    const seal = createSeal(options.file, order.onTrouble);
    const { version, mode } = order;
    const door = openMcpDoor({ version, who, workflow: workflow.name, mode, seal }, gateway);
    const served = serveStdio(door, { input: process.stdin, output });
    // What is running may end, and its reply reach the client, before the connection goes.
    onStop(() => void gateway.close().finally(() => served.close()));
    say(gateway.current().gateway.role);
    await served.closed;
  }
  await gateway.close();
  return { kind: 'ended' };
}

/** From here on whatever else is printed goes to standard error: one stray line would break the protocol. */
function takeStandardOutput() {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const output = new Writable({
    write: (chunk: Buffer, encoding, done) => void write.call(stdout, chunk, encoding, (error) => done(error)),
  });
  return { output, giveBack: () => void (stdout.write = write) };
}
