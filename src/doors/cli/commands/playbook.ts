/** The command `playbook show`: prints what is done about each failure, after which pauses, and why. */
import type { EffectiveRow } from '../../../core/recovery/effective-playbook.ts';
import type { Entry, ToolRecovery } from '../../../core/recovery/playbook.ts';
import { effectClasses } from '../../../core/taxonomy.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Column, type Pair, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { type ToldProblem, writeProblem } from './check.ts';

/** Where something is declared: `file:line`, or `default`. */
type From = string;

export interface ShownPlaybook {
  readonly kind: 'shown';
  /** Null for the gateway's own playbook. */
  readonly tool: string | null;
  readonly rows: readonly (EffectiveRow & { readonly from: From })[];
  readonly recovery: Pick<ToolRecovery, 'breaker' | 'quarantineMs' | 'reconcile'>;
  readonly from: Readonly<Record<'breaker' | 'quarantine' | 'reconcile', From>>;
  /** What no playbook changes. */
  readonly fixed: readonly string[];
  /** What could not be known. */
  readonly remarks: readonly string[];
  readonly hash: string;
}

export type PlaybookFound =
  | ShownPlaybook
  | { readonly kind: 'problems'; readonly problems: readonly ToldProblem[] }
  | { readonly kind: 'unknown'; readonly message: string };

/** `tool` is empty for the gateway's own playbook. */
export type ShowPlaybook = (tool: string, config: string | undefined) => Promise<PlaybookFound>;

export async function runPlaybook(command: Command, show: ShowPlaybook, terminal: Terminal): Promise<ExitCode> {
  const found = await show(command.argument, command.config);
  switch (found.kind) {
    case 'problems':
      for (const problem of found.problems) terminal.tell(`${writeProblem(problem, terminal.paintTold)}\n`);
      return exitCodes.no.code;
    case 'unknown':
      terminal.tell(`recourse: ${harmless(found.message)}\n`);
      return exitCodes.no.code;
    case 'shown':
      terminal.print(command.json ? `${JSON.stringify(objectOf(found))}\n` : writeShown(found, terminal));
      return exitCodes.done.code;
    default:
      return unreachable(found);
  }
}

function objectOf({ tool, rows, recovery, from, fixed, remarks, hash }: ShownPlaybook): object {
  const { breaker, quarantineMs, reconcile } = recovery;
  return {
    tool,
    rows: rows.map(({ verdict, effectClass, codes, entry, guard, from: declared }) => ({
      verdict,
      effect_class: effectClass,
      codes,
      action: entry.action,
      jitter: entry.jitter,
      guard: guard?.says ?? null,
      from: declared,
    })),
    breaker: breaker === null ? null : { failures: breaker.failures, open_ms: breaker.openMs, from: from.breaker },
    quarantine: { ms: quarantineMs, from: from.quarantine },
    reconcile: reconcile === null ? null : { tool: reconcile.tool, from: from.reconcile },
    fixed,
    remarks,
    hash,
  };
}

type Row = ShownPlaybook['rows'][number];

interface Line {
  readonly verdict: string;
  readonly what: string;
  readonly how: string;
  readonly why: string;
}

const columns: readonly Column<Line & { readonly effects: readonly string[] }>[] = [
  { title: 'verdict', text: ({ verdict }) => verdict },
  { title: 'effect', text: ({ effects }) => (effects.length === allClasses ? 'all' : effects.join(', ')) },
  { title: 'what happens', text: ({ what }) => what },
  { title: 'how', text: ({ how }) => how },
  { title: 'why', text: ({ why }) => why },
];

const allClasses = Object.keys(effectClasses).length;

/** Effect classes for which the same happens share a line. */
function linesOf(rows: readonly Row[]) {
  const lines = new Map<string, Line & { readonly effects: readonly string[] }>();
  for (const row of rows) {
    const line = lineOf(row);
    const same = JSON.stringify(line);
    lines.set(same, { ...line, effects: [...(lines.get(same)?.effects ?? []), row.effectClass] });
  }
  return [...lines.values()];
}

function lineOf(row: Row): Line {
  const { verdict, codes, entry, guard, from } = row;
  return {
    verdict: codes.length === 0 ? verdict : `${verdict} (${codes.join(', ')})`,
    what: whatHappens(row),
    how: isResent(row) ? schedule(entry) : (guard?.says ?? detail(row)),
    why: guard?.kind === 'window' ? `${from}; ${guard.says}` : from,
  };
}

function writeShown({ tool, rows, recovery, from, fixed, remarks, hash }: ShownPlaybook, { paint }: Terminal): string {
  const { breaker, quarantineMs, reconcile } = recovery;
  const settled = reconcile === null ? 'a person' : `${reconcile.tool}, then a person (${from.reconcile})`;
  const ofTool: readonly Pair[] = [
    ['in doubt', `settled by ${settled}`],
    ['quarantine', `${time(quarantineMs)} (${from.quarantine})`],
    [
      'breaker',
      breaker === null
        ? `none (${from.breaker})`
        : `opens for ${time(breaker.openMs)} after ${breaker.failures} failures in a row (${from.breaker})`,
    ],
  ];
  return [
    `${paint('bold', tool === null ? 'playbook of the gateway' : `playbook of ${harmless(tool)}`)}\n`,
    ...remarks.map((each) => `${paint('yellow', harmless(each))}\n`),
    `\n${writeTable(columns, linesOf(rows), paint)}\n`,
    ...(tool === null ? [] : [writePairs(ofTool, paint), '\n']),
    `${paint('bold', 'whatever is declared')}\n`,
    ...fixed.map((each) => `  ${each}\n`),
    `\nhash ${hash}\n`,
  ].join('');
}

const isResent = ({ entry, guard }: Row): boolean =>
  entry.action.kind === 'retry_with_backoff' && entry.action.max_attempts > 0 && guard?.kind !== 'never';

function whatHappens(row: Row): string {
  const { kind } = row.entry.action;
  return kind !== 'retry_with_backoff' || isResent(row) ? kind : 'not sent again';
}

/** What is said about it beside its name. */
function detail({ entry: { action } }: Row): string {
  switch (action.kind) {
    case 'retry_with_backoff':
      return '';
    case 'refresh_evidence':
      return `then ${action.then}`;
    case 'escalate_to_human':
      return `queue ${action.queue}`;
    case 'issue_reversal':
    case 'deprecate_tool_call':
      return action.reason;
    default:
      return unreachable(action);
  }
}

/** Such as `200 ms, 600 ms, 1.8 s ±20 %`. */
export function schedule({ action, jitter }: Entry): string {
  const pauses = action.kind === 'retry_with_backoff' ? action.backoff_ms.map(time).join(', ') : '';
  return jitter === 0 ? pauses : `${pauses} ±${Math.round(jitter * 100)} %`;
}

const time = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);
