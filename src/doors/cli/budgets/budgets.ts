/** The commands `budgets ls`, `set` and `reset`. The gateway decides who may look and who may change. */
import type { BudgetView } from '../../../core/budget/budget-view.ts';
import type { RunApprovals as RunBudgets } from '../commands/approvals.ts';
import { type Daemon, type DaemonAnswer, reportFailure } from '../daemon.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { writeTable } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { amountOf, columnsAt, readBudget, readBudgets } from './write-budget.ts';

export const listBudgets: RunBudgets = async ({ said, json }, daemon, { nowMs }, terminal) => {
  const wish = Object.entries({ agent: said.agent, session: said.session });
  const query = new URLSearchParams(wish.filter((pair): pair is [string, string] => pair[1] !== undefined));
  const answer = await daemon.ask({ method: 'GET', path: `/v1/budgets${query.size === 0 ? '' : `?${query}`}` });
  const found = answer.kind === 'answered' ? readBudgets(answer.body) : null;
  if (found === null) return reportFailure(answer, daemon, terminal);
  if (json) for (const each of found) terminal.print(`${JSON.stringify(each)}\n`);
  else if (found.length > 0) terminal.print(writeTable(columnsAt(nowMs()), found, terminal.paint));
  else terminal.tell('no budget matches. Budgets by session are shown with --session.\n');
  return exitCodes.done.code;
};

export const setBudget: RunBudgets = async ({ argument, words, said, json }, daemon, _parts, terminal) => {
  const spent = words.slice(1).join(' ');
  return change(argument, 'set', { spent, ...given(said) }, { daemon, json, terminal });
};

export const resetBudget: RunBudgets = async ({ argument, said, json }, daemon, _parts, terminal) =>
  change(argument, 'reset', given(said), { daemon, json, terminal });

const given = ({ note, session }: Readonly<Partial<Record<string, string>>>) => ({
  ...(note === undefined ? {} : { note }),
  ...(session === undefined ? {} : { session }),
});

interface ChangeParts {
  readonly daemon: Daemon;
  readonly json: boolean;
  readonly terminal: Terminal;
}

async function change(
  id: string,
  act: 'set' | 'reset',
  body: object,
  { daemon, json, terminal }: ChangeParts,
): Promise<ExitCode> {
  const answer = await daemon.ask({ method: 'POST', path: `/v1/budgets/${encodeURIComponent(id)}/${act}`, body });
  const changed = answer.kind === 'answered' && answer.status === 200 ? readBudget(answer.body) : null;
  if (changed === null) return reportNotChanged(answer, daemon, terminal);
  terminal.print(json ? `${JSON.stringify(changed)}\n` : `${harmless(sentenceOf(changed))}\n`);
  return exitCodes.done.code;
}

function sentenceOf(budget: BudgetView): string {
  const held = budget.held === 0 ? '' : `, ${amountOf(budget.held, budget)} held`;
  const of = amountOf(budget.max + budget.allowed, budget);
  return `${budget.budget}: ${amountOf(budget.spent, budget)} spent${held}, ${amountOf(budget.left, budget)} left of ${of}.`;
}

/** A request whose answer was lost may have changed it: that is said, and how to find out. */
function reportNotChanged(answer: DaemonAnswer, daemon: Daemon, terminal: Terminal): ExitCode {
  const code = reportFailure(answer, daemon, terminal);
  if (answer.kind === 'lost') terminal.tell('recourse: it may be changed all the same. Try: recourse budgets\n');
  return code;
}
