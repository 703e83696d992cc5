/** The command `faults`: reads its options, prints the addresses in one line, and runs until it is stopped. */
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { type ToldProblem, writeProblem } from './check.ts';

interface FaultsOrder {
  readonly port: number;
  readonly ledger: string;
  readonly faults: string | undefined;
  readonly rate: number;
  readonly seed: number | undefined;
  readonly stdio: boolean;
  readonly onRepeat: 'replay' | 'conflict';
  readonly windowMs: number;
}

type FaultsStart =
  | {
      readonly kind: 'started';
      readonly url: string;
      readonly mcp: string;
      readonly seed: number | null;
      readonly ended: Promise<void>;
      readonly stop: () => Promise<void>;
    }
  | { readonly kind: 'problems'; readonly problems: readonly ToldProblem[] }
  | { readonly kind: 'refused'; readonly message: string };

export interface FaultsParts {
  readonly start: (order: FaultsOrder) => Promise<FaultsStart>;
  readonly list: () => readonly {
    readonly fault: string;
    readonly says: string;
    readonly settings: readonly string[];
  }[];
  readonly durationMs: (text: string) => number | null;
}

export async function runFaults(command: Command, parts: FaultsParts, terminal: Terminal): Promise<ExitCode> {
  if (command.flags.has('list')) return printList(command, parts, terminal);
  const order = readOrder(command, parts);
  if (typeof order === 'string') {
    terminal.tell(`recourse: ${order}. Try: recourse faults --help\n`);
    return exitCodes.usage.code;
  }
  const started = await parts.start(order);
  switch (started.kind) {
    case 'problems':
      for (const problem of started.problems) terminal.tell(`${writeProblem(problem, terminal.paintTold)}\n`);
      terminal.tell('recourse: recourse faults --list prints every fault, with its settings\n');
      return exitCodes.no.code;
    case 'refused':
      terminal.tell(`recourse: ${harmless(started.message)}\n`);
      return exitCodes.no.code;
    case 'started': {
      const stopped = Promise.withResolvers<void>();
      const stopListening = terminal.onStop(stopped.resolve);
      const line = writeStarted(started, order, command.json);
      // With --stdio, standard output carries MCP and nothing else.
      if (order.stdio) terminal.tell(line);
      else terminal.print(line);
      await Promise.race([stopped.promise, started.ended]);
      stopListening();
      await started.stop();
      return exitCodes.done.code;
    }
    default:
      return unreachable(started);
  }
}

/** A sentence if an option is wrong. */
function readOrder({ said, flags }: Command, { durationMs }: FaultsParts): FaultsOrder | string {
  const { port = '0', rate = '0', window = '24h', seed, faults, ledger = 'recourse-faults.jsonl' } = said;
  const windowMs = durationMs(window);
  if (windowMs === null) return '--window is a duration, such as 24h';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return '--port is a whole number from 0 to 65535';
  if (!/^(0|1|0?\.\d{1,9})$/.test(rate)) return '--rate is a number from 0 to 1, such as 0.3';
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) return '--seed is a whole number from 0 to 999999999';
  if (seed !== undefined && Number(rate) === 0) return '--seed needs --rate, such as --rate 0.3';
  return {
    port: Number(port),
    rate: Number(rate),
    seed: seed === undefined ? undefined : Number(seed),
    windowMs,
    ledger,
    faults,
    stdio: flags.has('stdio'),
    onRepeat: said['on-repeat'] === 'conflict' ? 'conflict' : 'replay',
  };
}

function writeStarted(
  { url, mcp, seed }: FaultsStart & { kind: 'started' },
  { ledger, rate }: FaultsOrder,
  json: boolean,
): string {
  if (json) return `${JSON.stringify({ url, mcp, ledger, seed, rate })}\n`;
  const drawn = seed === null ? '' : `, random faults at rate ${rate} from seed ${seed}`;
  return `recourse faults: HTTP at ${url}, MCP at ${mcp}, ledger ${harmless(ledger)}${drawn}\n`;
}

function printList({ json }: Command, { list }: FaultsParts, { print, paint }: Terminal): ExitCode {
  const rows = list();
  const width = Math.max(...rows.map(({ fault }) => fault.length));
  for (const { fault, says, settings } of rows) {
    const more = settings.length === 0 ? '' : ` (${settings.join(', ')})`;
    if (json) print(`${JSON.stringify({ fault, says, settings })}\n`);
    else print(`${paint('cyan', fault.padEnd(width))}  ${says}${paint('dim', more)}\n`);
  }
  return exitCodes.done.code;
}
