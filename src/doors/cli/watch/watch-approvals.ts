/**
 * The command `approvals watch`: a live screen on a terminal, otherwise a line for each change. A decision is sent
 * with the hash of what was on the screen.
 */
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ApprovalsParts, RunApprovals } from '../commands/approvals.ts';
import { type Daemon, type DaemonAnswer, reportFailure, failureOf } from '../daemon.ts';
import { drawWatch } from './draw-watch.ts';
import { exitCodes } from '../exit-codes.ts';
import { type ApprovalListener, followApprovals, pendingAt } from './follow-approvals.ts';
import { readApproval } from './read-approval.ts';
import type { Screen } from './screen.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { watch, watchBegins, type WatchEffect, type WatchEvent } from './watch-state.ts';
import { consequence, sentenceOf } from '../print/write-approval.ts';

export const watchApprovals: RunApprovals = async ({ json }, daemon, parts, terminal) => {
  // A gateway that refuses is reported before a screen opens.
  const first = await pendingAt(daemon);
  if ('kind' in first) return reportFailure(first, daemon, terminal);
  const stop = new AbortController();
  const stopListening = terminal.onStop(() => stop.abort());
  try {
    const { openScreen } = terminal;
    const end =
      json || openScreen === null
        ? await printChanges(json, daemon, parts, terminal, stop.signal)
        : await showScreen(await openScreen(), daemon, parts, terminal, stop);
    return end === null ? exitCodes.done.code : reportFailure(end, daemon, terminal);
  } finally {
    stopListening();
  }
};

/** Ids that were printed, so that a repeated list does not print them again. */
const maxTold = 10_000;

async function printChanges(
  json: boolean,
  daemon: Daemon,
  { timer }: ApprovalsParts,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<DaemonAnswer | null> {
  const told = new Set<string>();
  const print = (event: Omit<ApprovalEvent, 'position'> & { readonly position: string | null }) => {
    if (told.size >= maxTold) told.clear();
    told.add(event.approval.approval_id);
    terminal.print(json ? `${JSON.stringify(event)}\n` : `${lineOf(event)}\n`);
  };
  const listener: ApprovalListener = {
    onPending(pending) {
      const fresh = pending.filter((each) => !told.has(each.approval_id)).toReversed();
      for (const approval of fresh) print({ position: null, change: 'opened', at: approval.opened_at, approval });
    },
    // An approval that was opened after the stream is in the list, too.
    onChange: (event) => {
      if (event.change !== 'opened' || !told.has(event.approval.approval_id)) print(event);
    },
    onLost: (sentence) => terminal.tell(`recourse: ${harmless(sentence)}; trying again\n`),
  };
  return followApprovals(daemon, listener, timer, signal);
}

const lineOf = ({ at, change, approval }: Omit<ApprovalEvent, 'position'>): string =>
  `${at}  ${change.padEnd(8)}  ${harmless(approval.approval_id)}  ${harmless(sentenceOf({ change, approval }))}`;

const tickMs = 1_000;

async function showScreen(
  screen: Screen,
  daemon: Daemon,
  { timer, nowMs }: ApprovalsParts,
  { paint }: Terminal,
  stop: AbortController,
): Promise<DaemonAnswer | null> {
  let state = watchBegins(nowMs());
  const draw = () => screen.draw(drawWatch(state, daemon.url, screen.size(), paint));
  const happen = (event: WatchEvent) => {
    const [next, effects] = watch(state, event);
    state = next;
    for (const effect of effects) carryOut(effect);
    draw();
  };
  const carryOut = (effect: WatchEffect): void => {
    if (effect.kind === 'quit') return stop.abort();
    void decide(effect, daemon).then((sentence) => happen({ kind: 'answered', sentence }));
  };
  const tick = (): (() => void) =>
    timer.schedule(tickMs, () => {
      happen({ kind: 'ticked', nowMs: nowMs() });
      takeBack = tick();
    });
  let takeBack = tick();
  try {
    screen.onKey((key) => happen({ kind: 'key', key }));
    screen.onResize(draw);
    draw();
    return await followApprovals(
      daemon,
      {
        onPending: (pending: readonly ApprovalView[]) => happen({ kind: 'listed', pending }),
        onChange: (event) => happen({ kind: 'changed', event }),
        onLost: (trouble) => happen({ kind: 'lost', trouble }),
      },
      timer,
      stop.signal,
    );
  } finally {
    takeBack();
    screen.close();
  }
}

/** Sends a decision, and returns its consequence, or why it was refused. */
async function decide(effect: Exclude<WatchEffect, { kind: 'quit' }>, daemon: Daemon): Promise<string> {
  const { id, shown } = effect;
  const path = `/v1/approvals/${encodeURIComponent(id)}/${effect.kind}`;
  const body = effect.kind === 'deny' ? { shown, reason: effect.reason } : { shown };
  const answer = await daemon.ask({ method: 'POST', path, body });
  const decided = answer.kind === 'answered' && answer.status === 200 ? readApproval(answer.body) : null;
  if (decided === null) return `not done: ${failureOf(answer, daemon)[0]}`;
  switch (effect.kind) {
    case 'approve':
      return `approved: ${consequence(decided)}`;
    case 'deny':
      return `denied: ${consequence(decided)}`;
    default:
      return unreachable(effect);
  }
}
