/** The command `inbox`: what waits for a person, approvals and tickets in one list. */
import { maxPage } from '../../../core/http/http-routes.ts';
import type { InboxItem } from '../../../core/ticket/inbox.ts';
import { isObject } from '../../../core/values/json.ts';
import { reportFailure } from '../daemon.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Column, writeTable } from '../print/table.ts';
import { duration } from '../print/write-approval.ts';
import { reportUsage, type RunApprovals as RunInbox } from '../commands/approvals.ts';

export const showInbox: RunInbox = async (command, daemon, { nowMs }, terminal) => {
  const { json, limit } = command;
  if (limit > maxPage) return reportUsage(`--limit is a whole number from 1 to ${maxPage}`, command, terminal);
  const answer = await daemon.ask({ method: 'GET', path: `/v1/inbox?limit=${limit}` });
  const found = answer.kind === 'answered' ? readItems(answer.body) : null;
  if (found === null) return reportFailure(answer, daemon, terminal);
  const { items, total } = found;
  if (json) {
    for (const each of items) terminal.print(`${JSON.stringify(each)}\n`);
    return exitCodes.done.code;
  }
  if (items.length === 0) terminal.tell('nothing waits for a person.\n');
  else terminal.print(writeTable(columnsAt(nowMs()), items, terminal.paint));
  if (total > items.length) terminal.tell(`${items.length} of ${total} shown; more: --limit ${maxPage}\n`);
  return exitCodes.done.code;
};

function readItems(body: Readonly<Record<string, unknown>>) {
  const { items, total } = body;
  if (!Array.isArray(items) || typeof total !== 'number' || !items.every(isItem)) return null;
  return { items: items as readonly InboxItem[], total };
}

const texts = ['id', 'kind', 'waits_for', 'agent', 'tool', 'opened_at'] as const;

const isItem = (item: unknown): boolean => isObject(item) && texts.every((name) => typeof item[name] === 'string');

const columnsAt = (nowMs: number): readonly Column<InboxItem>[] => [
  { title: 'ID', text: ({ id }) => id, style: () => 'cyan' },
  { title: 'DUE', text: (item) => dueIn(item, nowMs), style: ({ overdue }) => (overdue ? 'red' : 'yellow') },
  { title: 'AGENT', text: ({ agent }) => agent },
  { title: 'TOOL', text: ({ tool }) => tool, style: () => 'bold' },
  { title: 'WHO', text: ({ assignee }) => assignee ?? '-' },
  { title: 'WAITS FOR', text: ({ waits_for: what }) => what },
];

function dueIn({ due_at: due }: InboxItem, nowMs: number): string {
  if (due === null) return '-';
  const leftMs = Date.parse(due) - nowMs;
  return leftMs < 0 ? `${duration(-leftMs)} ago` : `in ${duration(leftMs)}`;
}
