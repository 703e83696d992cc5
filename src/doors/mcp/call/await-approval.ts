/**
 * Answers `await_approval`: returns an approval of the agent when it is decided or the time is over, with progress
 * notifications if the client asked for them.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { cut, pointerStep, preview } from '../../../core/values/canonical.ts';
import type { FieldError } from '../../../core/call/catalogue.ts';
import { quoteWord, spellOut } from '../../../core/values/quote.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ApprovalView } from '../../../shell/approval/approval-service.ts';
import { offer, offeredNames } from '../door-names.ts';
import { type Exchange, tellProgress } from './exchange.ts';
import type { DoorApprovals, ModelNames } from '../parts.ts';
import { argumentsOf, type ToolCall } from './read-tool-call.ts';
import type { Serving } from '../serving.ts';
import { writeResult } from './write-result.ts';

export async function awaitApproval(
  call: ToolCall,
  approvals: DoorApprovals,
  exchange: Exchange,
  { parts, connection: { who }, limits, closing }: Serving,
): Promise<CallToolResult> {
  const refuse = async (wrong: FieldError) => writeResult(offer(await parts.unfit([wrong], who), parts), false);
  const wish = readWish(call, 'approval_id', approvals, limits.awaitMs);
  if ('wrong' in wish) return refuse(wish.wrong);
  const first = await approvals.read(wish.id, who);
  if (first === null)
    return refuse({ path: '/approval_id', expected: 'the id of an approval of yours', got: preview(wish.id) });
  const gone = new AbortController();
  const stop = () => gone.abort();
  const unfollow = exchange.follow(stop, stop);
  const ended = AbortSignal.any([gone.signal, closing]);
  const isWaiting = first.state === 'pending' && wish.waitMs > 0;
  const waits = { message: `${first.tool} waits for an approval`, totalMs: wish.waitMs };
  const quiet = isWaiting ? tellProgress(waits, exchange, limits.progressEveryMs) : () => undefined;
  try {
    const view = first.state === 'pending' ? await approvals.wait(wish.id, who, wish.waitMs, ended) : first;
    return written(view ?? first, offeredNames(parts));
  } finally {
    quiet();
    unfollow();
  }
}

type Wish = { readonly id: string; readonly waitMs: number } | { readonly wrong: FieldError };

/** The arguments of a tool that waits for something of this id. */
export function readWish(
  call: ToolCall,
  named: 'approval_id' | 'ticket_id',
  { waitMs, maxWaitMs }: Pick<DoorApprovals, 'waitMs' | 'maxWaitMs'>,
  awaitMs: number,
): Wish {
  const given = argumentsOf(call);
  if (given === null) return { wrong: { path: '/arguments', expected: 'an object', got: preview(call.args) } };
  const { [named]: id, wait_seconds: seconds = null, ...more } = given;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    return {
      wrong: { path: `/${pointerStep(cut(unknown, 100))}`, expected: `only ${named} and wait_seconds`, got: null },
    };
  if (typeof id !== 'string')
    return { wrong: { path: `/${named}`, expected: `the ${named} of a reply`, got: preview(id ?? null) } };
  if (seconds === null) return { id, waitMs: Math.min(awaitMs, waitMs, maxWaitMs) };
  if (typeof seconds !== 'number' || !(seconds >= 0))
    return { wrong: { path: '/wait_seconds', expected: 'a number from 0', got: preview(seconds) } };
  return { id, waitMs: Math.min(seconds * 1_000, maxWaitMs) };
}

/** The tool to call again is named as the door lists it. */
function written(view: ApprovalView, names: ModelNames): CallToolResult {
  const next = nextOf({ ...view, tool: names.write(view.tool) });
  const text = spellOut(`${view.approval_id} (${view.tool}): ${view.state}. ${next}`);
  return { content: [{ type: 'text', text }], structuredContent: { ...view, next } };
}

function nextOf(view: ApprovalView): string {
  const { state, tool, on_approve: onApprove } = view;
  switch (state) {
    case 'pending':
      return 'Nobody has decided yet: do something else meanwhile, and ask again later.';
    case 'granted':
      return afterGrant(view);
    case 'denied':
      return afterDenial(view);
    case 'used':
      return onApprove === 'run'
        ? `It was run: call ${tool} again with the same arguments to get the result.`
        : 'The call ran under it; another one needs another approval.';
    case 'expired':
      return `Its time ran out: call ${tool} again if it is still needed, and an approval is asked for anew.`;
    case 'revoked':
      return `It was taken back: call ${tool} again only if it is still needed; an approval is asked for anew.`;
    case 'void':
      return `What it was bound to has changed: call ${tool} again, and an approval is asked for anew.`;
    default:
      return unreachable(state);
  }
}

function afterGrant({ tool, on_approve: onApprove, edited_args: edited }: ApprovalView): string {
  const changed = edited === undefined ? '' : ' It will run with the arguments that the approver changed it to.';
  const again = `Call ${tool} again with the same arguments${onApprove === 'run' ? ' to get the result' : ''}.`;
  return `${again}${changed}`;
}

function afterDenial({ decided }: ApprovalView): string {
  const why = decided?.reason ?? null;
  return `Do not call it again: ${quoteWord(decided?.by ?? 'an approver')} said no${why === null ? '' : ` (${why})`}.`;
}
