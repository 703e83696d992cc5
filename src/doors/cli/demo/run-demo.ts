/** The command `demo`: prints one address and what the agents do, until it is stopped. Does not know how it is run. */
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { harmless, type Paint, type Style, type Terminal } from '../terminal.ts';

interface Told {
  readonly agent: string;
  readonly says: string;
  readonly outcome: string;
  readonly call_id: string | null;
  readonly approval_id?: string;
  readonly ticket_id?: string;
  readonly concerns_you: boolean;
}

interface Ready {
  readonly url: string;
  readonly gateway: string;
  readonly store: string;
}

interface DemoOrder {
  readonly port: number;
  readonly once: boolean;
  readonly fast: boolean;
  readonly onReady: (ready: Ready) => void;
  readonly onTold: (told: Told) => void;
  readonly onGoingOn: () => void;
  readonly onTrouble: (problem: string) => void;
  readonly onStop: (callback: () => void) => () => void;
}

type DemoEnd =
  | { readonly kind: 'ended'; readonly wrong: readonly string[] }
  | { readonly kind: 'refused'; readonly because: 'address' | 'store' | 'gateway'; readonly message: string };

export interface DemoParts {
  readonly run: (order: DemoOrder) => Promise<DemoEnd>;
  /** Ends the process at once. */
  readonly abandon: () => void;
}

const maxPort = 65_535;

export async function runDemo(command: Command, parts: DemoParts, terminal: Terminal): Promise<ExitCode> {
  const { said, flags, json } = command;
  const port = said.port ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > maxPort) {
    terminal.tell(`recourse: --port is a whole number from 0 to ${maxPort}. Try: recourse demo --help\n`);
    return exitCodes.usage.code;
  }
  const { print, paint } = terminal;
  const line = (event: object) => print(`${JSON.stringify(event)}\n`);
  let isStory = true;
  let ready: Ready | null = null;
  const end = await parts.run({
    port: Number(port),
    once: flags.has('once'),
    fast: flags.has('fast'),
    onReady(now) {
      ready = now;
      if (json) line({ event: 'ready', ...now });
      else print(writeReady(now.url, paint));
    },
    onTold(told) {
      if (json) line({ event: 'told', ...told });
      else if (isStory || told.concerns_you) print(writeTold(told, paint));
    },
    onGoingOn() {
      isStory = false;
      if (!json) print(writeGoingOn(ready, paint));
    },
    onTrouble: (problem) => terminal.tell(`recourse: ${harmless(problem)}\n`),
    onStop: stopOrAbandon(parts, terminal),
  });
  return reportEnd(end, terminal);
}

/** A second Ctrl-C does not wait for running calls. */
function stopOrAbandon({ abandon }: DemoParts, { onStop }: Terminal): Terminal['onStop'] {
  let stops = 0;
  return (callback) =>
    onStop(() => {
      stops += 1;
      if (stops > 1) abandon();
      else callback();
    });
}

function writeGoingOn(ready: Ready | null, paint: Paint): string {
  const another = ready === null ? '' : `recourse console --file ${ready.store} --url ${ready.gateway}`;
  const lines = [
    'The agents go on. From here only what waits for you is printed; everything else is on the page.',
    `The link works once. Another: ${harmless(another)}`,
    'Ctrl-C ends the demo and leaves nothing behind. For your own tools: recourse init, then recourse up.',
  ];
  return `\n${lines.map((each) => `${paint('dim', each)}\n`).join('')}\n`;
}

const writeReady = (url: string, paint: Paint): string =>
  [
    `${paint('bold', 'recourse demo')}: a small shop. Two agents work in it, through a gateway on this machine.`,
    `${paint('bold', 'Open')}  ${paint('cyan', url)}`,
    '',
    '',
  ].join('\n');

const styles: Readonly<Record<string, Style>> = {
  succeeded: 'green',
  retried: 'green',
  happened: 'green',
  BUDGET_WARNING: 'yellow',
  POLICY_DEFER: 'yellow',
  in_doubt: 'yellow',
  escalated: 'yellow',
};

const means: Readonly<Record<string, string>> = {
  BUDGET_WARNING: 'succeeded, with a budget warning',
  retried: 'succeeded at the second attempt',
  POLICY_DEFER: 'waits for you: approve, edit or deny it',
  in_doubt: 'in doubt, waits for you: settle it',
  escalated: 'escalated, waits for you: a ticket',
};

const agentWidth = 9;

function writeTold({ agent, says, outcome }: Told, paint: Paint): string {
  const result = paint(styles[outcome] ?? 'red', means[outcome] ?? outcome);
  return `${paint('dim', agent.padEnd(agentWidth))}  ${harmless(says)}  ${paint('dim', '→')} ${result}\n`;
}

function reportEnd(end: DemoEnd, terminal: Terminal): ExitCode {
  switch (end.kind) {
    case 'ended':
      for (const wrong of end.wrong) terminal.tell(`recourse: the demo went otherwise: ${harmless(wrong)}\n`);
      return end.wrong.length === 0 ? exitCodes.done.code : exitCodes.no.code;
    case 'refused':
      terminal.tell(`recourse: ${harmless(end.message)}\n`);
      return end.because === 'store' ? exitCodes.store.code : exitCodes.no.code;
    default:
      return unreachable(end);
  }
}
