/**
 * Answers `await_ticket`: returns a ticket of the agent when it is answered and its call has ended, or the time is over,
 * with progress notifications if the client asked for them.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FieldError } from '../../../core/call/catalogue.ts';
import type { TicketOutcome } from '../../../core/recovery/ticket-view.ts';
import { preview } from '../../../core/values/canonical.ts';
import { spellOut } from '../../../core/values/quote.ts';
import { offer, offeredNames } from '../door-names.ts';
import type { DoorTickets, ModelNames } from '../parts.ts';
import type { Serving } from '../serving.ts';
import { readWish } from './await-approval.ts';
import { type Exchange, tellProgress } from './exchange.ts';
import type { ToolCall } from './read-tool-call.ts';
import { writeResult } from './write-result.ts';

export async function awaitTicket(
  call: ToolCall,
  tickets: DoorTickets,
  exchange: Exchange,
  { parts, connection: { who }, limits, closing }: Serving,
): Promise<CallToolResult> {
  const refuse = async (wrong: FieldError) => writeResult(offer(await parts.unfit([wrong], who), parts), false);
  const wish = readWish(call, 'ticket_id', tickets, limits.awaitMs);
  if ('wrong' in wish) return refuse(wish.wrong);
  const gone = new AbortController();
  const stop = () => gone.abort();
  const unfollow = exchange.follow(stop, stop);
  const ended = AbortSignal.any([gone.signal, closing]);
  const waits = { message: 'a ticket waits for a person', totalMs: wish.waitMs };
  const quiet = wish.waitMs > 0 ? tellProgress(waits, exchange, limits.progressEveryMs) : () => undefined;
  try {
    const found = await tickets.wait(wish.id, who, wish.waitMs, ended);
    if (found === null)
      return await refuse({ path: '/ticket_id', expected: 'the id of a ticket of yours', got: preview(wish.id) });
    return written(found, offeredNames(parts));
  } finally {
    quiet();
    unfollow();
  }
}

/** The tool to call again is named as the door lists it. */
function written(found: TicketOutcome, names: ModelNames): CallToolResult {
  const next = found.next.replaceAll(found.tool, names.write(found.tool));
  const how = found.answer === null ? found.state : `${found.state} (${found.answer})`;
  const result = found.reply === null ? '' : ` ${preview(found.reply, 2_000)}`;
  const text = spellOut(`${found.ticket_id} (${found.tool}): ${how}. ${next}${result}`);
  return { content: [{ type: 'text', text }], structuredContent: { ...found, next } };
}
