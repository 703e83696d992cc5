/**
 * The commands `serve`, `stdio` and `up`: print what is served and where, and what went wrong. Does not know how it is
 * served.
 */
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ToldProblem } from './check.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Paint, type Terminal } from '../terminal.ts';

interface Order {
  readonly config: string | undefined;
  /** From the command line or the environment; otherwise the configuration decides. */
  readonly file: string | undefined;
  readonly newStore: boolean;
  readonly onTrouble: (problem: string) => void;
  readonly onStop: (callback: () => void) => () => void;
}

export interface ServeOrder extends Order {
  /** Null if the command line does not say. */
  readonly agent: string | null;
  /** Null for every server and workflow of the configuration. */
  readonly workflow: string | null;
  readonly mode: 'step' | 'tools';
  readonly onServing: (serving: {
    readonly workflow: string | null;
    readonly file: string;
    readonly role: string;
  }) => void;
}

export interface UpReady {
  readonly file: string;
  readonly role: string;
  readonly upstreams: readonly {
    readonly name: string;
    readonly state: string;
    readonly tools: number;
    readonly problem: string | null;
    /** The last lines of a child's standard error. Only for this terminal: they may contain secrets. */
    readonly lastWords: readonly string[];
  }[];
  readonly tools: number;
  readonly url: string;
  readonly api: string;
  readonly workflows: readonly { readonly name: string; readonly url: string }[];
  readonly mode: 'enforce' | 'audit' | null;
  readonly agents: readonly string[] | null;
  readonly warnings: readonly { readonly file: string; readonly line: number; readonly message: string }[];
  /** Errors of `recourse check` that --force overrode. */
  readonly forced: readonly { readonly file: string; readonly line: number; readonly message: string }[];
  /** Tools that differ from recourse.lock, a sentence each. */
  readonly drift: readonly string[];
  readonly openAs: string | null;
  /** A link that opens the console once; null without a console, or without a key of the operator. */
  readonly console: string | null;
  readonly operator:
    | { readonly kind: 'made'; readonly file: string; readonly key: string }
    | { readonly kind: 'kept'; readonly file: string }
    | { readonly kind: 'absent' | 'unusable'; readonly file: string; readonly message: string };
}

export interface UpOrder extends Order {
  readonly mode: 'step' | 'tools';
  readonly force: boolean;
  readonly listen: string | undefined;
  /** Requests without a key are of this agent. */
  readonly openAs: string | null;
  /** With the servers that are not connected yet. */
  readonly onSlowStart: (seconds: number, starting: readonly string[]) => void;
  readonly onListening: (url: string, isLocal: boolean) => void;
  readonly onReady: (ready: UpReady) => void;
  readonly onSuccession: (role: string) => void;
}

export type GatewayEnd =
  | { readonly kind: 'ended' }
  /** `forcible`: --force would start it. */
  | { readonly kind: 'problems'; readonly problems: readonly ToldProblem[]; readonly forcible?: boolean }
  | { readonly kind: 'refused'; readonly because: 'configuration' | 'store'; readonly message: string }
  | { readonly kind: 'no_address'; readonly message: string }
  | { readonly kind: 'bad_listen' }
  | { readonly kind: 'not_local' };

export interface GatewayParts {
  readonly serve: (order: ServeOrder) => Promise<GatewayEnd>;
  readonly up: (order: UpOrder) => Promise<GatewayEnd>;
  /** Ends the process at once. */
  readonly abandon: () => void;
}

export async function runServe(command: Command, parts: GatewayParts, terminal: Terminal): Promise<ExitCode> {
  const end = await parts.serve({
    ...orderOf(command, parts, terminal),
    agent: command.filter.agent ?? null,
    workflow: command.name === 'stdio' ? null : command.argument,
    mode: modeOf(command),
    onServing: ({ workflow, file, role }) => {
      const what = workflow === null ? 'every server and workflow' : `workflow '${harmless(workflow)}'`;
      terminal.tell(`recourse: serving ${what} on ${harmless(file)}, as its ${role}\n`);
    },
  });
  return reportEnd(end, command, terminal);
}

export async function runUp(command: Command, parts: GatewayParts, terminal: Terminal): Promise<ExitCode> {
  const end = await parts.up({
    ...orderOf(command, parts, terminal),
    listen: command.said.listen,
    mode: modeOf(command),
    force: command.flags.has('force'),
    openAs: command.filter.agent ?? null,
    onSlowStart(seconds, starting) {
      const why =
        starting.length === 0 ? '' : `, waiting for ${starting.map((name) => `'${harmless(name)}'`).join(', ')}`;
      terminal.tell(
        `recourse: still starting after ${seconds} s${why}; until it is ready, calls are answered DAEMON_NOT_READY\n`,
      );
    },
    onListening(url, isLocal) {
      terminal.print(`recourse is starting at ${url}\n`);
      if (isLocal) return;
      const warning =
        'WARNING: this address can be reached from other machines, and keys travel as they are: put TLS in front of it.';
      terminal.tell(`${terminal.paintTold('red', warning)}\n`);
    },
    onReady(ready) {
      for (const line of warningsOf(ready)) terminal.tell(`${terminal.paintTold('red', line)}\n`);
      terminal.print(writeReady(ready, terminal.paint));
    },
    onSuccession: (role) =>
      terminal.tell(`recourse: the owner of the store is gone; this process is now its ${role}\n`),
  });
  return reportEnd(end, command, terminal);
}

const modeOf = ({ said }: Command): 'step' | 'tools' => (said.mode === 'tools' ? 'tools' : 'step');

function orderOf(command: Command, { abandon }: GatewayParts, terminal: Terminal): Order {
  let stops = 0;
  return {
    config: command.config,
    file: command.file || terminal.env['RECOURSE_FILE'] || undefined,
    newStore: command.flags.has('new-store'),
    onTrouble: (problem) => terminal.tell(`recourse: ${harmless(problem)}\n`),
    // A second Ctrl-C does not wait for running calls.
    onStop: (callback) =>
      terminal.onStop(() => {
        stops += 1;
        if (stops > 1) abandon();
        else callback();
      }),
  };
}

/** Warnings that are printed in red. */
function warningsOf({ mode, agents, openAs, warnings, forced, drift, operator }: UpReady): readonly string[] {
  return [
    ...(mode === 'audit' ? ['AUDIT MODE: policy is recorded and NOT enforced; every call that it denies runs.'] : []),
    ...(agents === null ? ['no agents are declared: whoever has a key of an agent may call every tool.'] : []),
    ...(openAs === null
      ? []
      : [`OPEN: whoever reaches this address without a key is the agent '${harmless(openAs)}'.`]),
    ...forced.map(({ file, line, message }) => `FORCED: ${harmless(file)}:${line} ${harmless(message)}`),
    ...warnings.map(({ file, line, message }) => `${harmless(file)}:${line} ${harmless(message)}`),
    ...drift.map(harmless),
    ...('message' in operator ? [harmless(operator.message)] : []),
  ];
}

export function writeReady(ready: UpReady, paint: Paint): string {
  const { file, role, upstreams, tools, url, api, workflows, agents, openAs, operator } = ready;
  const width = Math.max(0, ...upstreams.map(({ name }) => name.length));
  const urls = [
    [url, tools === 1 ? 'one tool' : `${tools} tools`] as const,
    ...workflows.map(({ name, url: at }) => [at, `workflow ${name}`] as const),
  ];
  const widest = Math.max(...urls.map(([at]) => at.length));
  return [
    `store ${harmless(file)}, as its ${role}\n`,
    ...upstreams.flatMap(({ name, state, tools: listed, problem, lastWords }) => {
      const named = harmless(name).padEnd(width);
      const but = problem === null ? '' : `; ${harmless(problem)}`;
      if (state === 'connected')
        return `${paint('green', '✓')} ${named}  ${listed === 1 ? 'one tool' : `${listed} tools`}${but}\n`;
      const said = lastWords.map((line) => paint('dim', `    ${' '.repeat(width)}it said: ${harmless(line)}\n`));
      if (state === 'connecting' && problem === null)
        return [`${paint('dim', '…')} ${named}  still starting\n`, ...said];
      return [`${paint('red', '✗')} ${named}  ${harmless(problem ?? state)}; it is tried again\n`, ...said];
    }),
    ...(agents === null ? [] : [`policy for ${agents.length === 1 ? 'one agent' : `${agents.length} agents`}\n`]),
    `${paint('bold', 'Paste one of these into an MCP client (Streamable HTTP):')}\n`,
    ...urls.map(([at, what]) => `  ${paint('cyan', at.padEnd(widest))}  ${harmless(what)}\n`),
    `  ${paint('cyan', api.padEnd(widest))}  the HTTP API\n`,
    ...(openAs === null
      ? [`with the header Authorization: Bearer <key>; recourse agents add <agent> makes one\n`]
      : []),
    ...consoleLine(ready, paint),
    ...(operator.kind === 'made'
      ? [
          `${paint('bold', "the operator's key, shown this once")}: ${operator.key}\n  kept in ${harmless(operator.file)} for the commands of this machine\n`,
        ]
      : operator.kind === 'kept'
        ? [`the operator's key is kept in ${harmless(operator.file)}\n`]
        : []),
    paint('dim', 'Ctrl-C lets running calls end; a second one does not wait.\n'),
  ].join('');
}

function consoleLine({ console: link }: UpReady, paint: Paint): readonly string[] {
  if (link === null) return [];
  const name = paint('bold', 'Open the console in a browser:');
  return [`${name}\n  ${paint('cyan', link)}  works once; recourse console prints another\n`];
}

async function reportEnd(end: GatewayEnd, { said, name }: Command, terminal: Terminal): Promise<ExitCode> {
  switch (end.kind) {
    case 'ended':
      return exitCodes.done.code;
    case 'problems': {
      // Loaded only here, to start listening sooner.
      const { writeProblem } = await import('./check.ts');
      for (const problem of end.problems) terminal.tell(`${writeProblem(problem, terminal.paintTold)}\n`);
      if (end.forcible === true)
        terminal.tell('recourse: nothing was started: correct it, or start it on record with recourse up --force\n');
      return exitCodes.no.code;
    }
    case 'refused':
      for (const line of end.message.split('\n')) terminal.tell(`recourse: ${harmless(line)}\n`);
      return end.because === 'store' ? exitCodes.store.code : exitCodes.no.code;
    case 'no_address':
      terminal.tell(`recourse: ${harmless(end.message)}\n`);
      return exitCodes.no.code;
    case 'bad_listen':
      terminal.tell(
        `recourse: --listen is host:port, such as 127.0.0.1:7411, not '${harmless(said.listen ?? '')}'. Try: recourse ${name} --help\n`,
      );
      return exitCodes.usage.code;
    case 'not_local':
      terminal.tell(
        'recourse: --agent lets everybody in without a key, so it works on 127.0.0.1 alone: leave it out, or listen there\n',
      );
      return exitCodes.usage.code;
    default:
      return unreachable(end);
  }
}
