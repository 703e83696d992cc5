/** Draws the live screen: from its state to lines that fit the terminal. Pure. */
import type { ApprovalView } from '../../../core/approval/approval-view.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ScreenSize } from './screen.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';
import type { WatchState } from './watch-state.ts';
import { duration, pairsOf, timeLeft } from '../print/write-approval.ts';

/** A line before it is cut and coloured; text of others is escaped. */
interface Line {
  readonly text: string;
  readonly style?: Style;
}

const shownHeard = 5;
/** The title, two blank lines and the prompt. */
const frame = 4;

export function drawWatch(
  state: WatchState,
  url: string,
  { columns, rows }: ScreenSize,
  paint: Paint,
): readonly string[] {
  const heard = state.heard.slice(-Math.min(shownHeard, Math.max(0, rows - frame - 4)));
  const room = Math.max(1, rows - frame - heard.length);
  const lines: readonly Line[] = [
    title(state, url, columns),
    { text: '' },
    ...padded(body(state, room), room),
    { text: '' },
    ...heard.map((each) => ({ text: `  ${harmless(each)}`, style: 'dim' }) as const),
    prompt(state),
  ];
  return lines.slice(0, rows).map(({ text, style }) => {
    const cut = clip(text, columns);
    return style === undefined ? cut : paint(style, cut);
  });
}

const padded = (lines: readonly Line[], count: number): readonly Line[] => [
  ...lines.slice(0, count),
  ...Array.from({ length: Math.max(0, count - lines.length) }, () => ({ text: '' })),
];

const clip = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;

function title({ link, trouble, pending }: WatchState, url: string, columns: number): Line {
  const how = link === 'lost' ? `lost: ${harmless(trouble ?? '')}; trying again` : link;
  const left = `recourse approvals  ${url}  ${how}`;
  const right = `${pending.length} pending`;
  const gap = ' '.repeat(Math.max(2, columns - left.length - right.length));
  return { text: `${left}${gap}${right}`, style: link === 'lost' ? 'yellow' : 'bold' };
}

function body(state: WatchState, room: number): readonly Line[] {
  const { mode } = state;
  switch (mode.kind) {
    case 'list':
      return list(state, room);
    case 'details': {
      const seen = state.pending.find((each) => each.approval_id === mode.id);
      return seen === undefined ? [] : details(seen, mode.from, state.nowMs, room);
    }
    case 'approving':
      return details(mode.seen, mode.from, state.nowMs, room);
    case 'denying':
      return details(mode.seen, 0, state.nowMs, room);
    default:
      return unreachable(mode);
  }
}

function list({ pending, chosen, nowMs, link }: WatchState, room: number): readonly Line[] {
  if (pending.length === 0)
    return [{ text: link === 'connecting' ? '  …' : '  no approval is pending.', style: 'dim' }];
  const head = ['AGENT', 'TOOL', 'WAITS', 'LEFT', 'APPROVED', 'RULE'];
  const rows = pending.map((each) => [
    each.agent,
    each.tool,
    duration(nowMs - Date.parse(each.opened_at)),
    timeLeft(each, nowMs),
    `${each.approved_by.length} of ${each.needed}`,
    each.rule_ref,
  ]);
  const cells = [head, ...rows].map((row) => row.map((cell) => clip(harmless(cell), widestCell)));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const at = pending.findIndex((each) => each.approval_id === chosen);
  const shown = Math.max(1, room - 1);
  // The selected line is always visible.
  const from = Math.max(0, Math.min(at - shown + 1, pending.length - shown));
  const body = cells.slice(1).map((row, index): Line => {
    const isChosen = index === at;
    return { text: `${isChosen ? '>' : ' '} ${line(row)}`, ...(isChosen ? { style: 'cyan' } : {}) };
  });
  return [{ text: `  ${line(cells[0] ?? [])}`, style: 'dim' }, ...body.slice(from, from + shown)];
}

const widestCell = 40;

function details(approval: ApprovalView, from: number, nowMs: number, room: number): readonly Line[] {
  const pairs = [['approval', approval.approval_id] as const, ...pairsOf(approval, nowMs)];
  const width = Math.max(...pairs.map(([name]) => name.length));
  const lines = pairs.flatMap(([name, value]) =>
    [value].flat().map((each, index) => `  ${(index === 0 ? name : '').padEnd(width)}  ${harmless(each)}`),
  );
  if (lines.length <= room) return lines.map((text) => ({ text }));
  const shown = Math.max(1, room - 1);
  const first = Math.min(from, lines.length - shown);
  const below = lines.length - first - shown;
  const more = below > 0 ? `… ${below} more below (j)` : `… the end; ${first} above (k)`;
  return [...lines.slice(first, first + shown).map((text) => ({ text })), { text: `  ${more}`, style: 'yellow' }];
}

function prompt({ mode, pending }: WatchState): Line {
  switch (mode.kind) {
    case 'list':
      return {
        text: pending.length === 0 ? ' q quit' : ' ↑↓ j k move · enter details · a approve · d deny · q quit',
        style: 'dim',
      };
    case 'details':
      return { text: ' j k scroll · a approve · d deny · esc back', style: 'dim' };
    case 'approving':
      return {
        text: ` approve ${harmless(mode.seen.tool)} of ${harmless(mode.seen.agent)}? y to approve, any other key: no`,
        style: 'green',
      };
    case 'denying':
      return { text: ` deny it, because: ${harmless(mode.reason)}_   (enter denies, esc goes back)`, style: 'red' };
    default:
      return unreachable(mode);
  }
}
