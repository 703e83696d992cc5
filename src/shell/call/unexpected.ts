/** A bug of ours, met on the way of somebody's request: it is never thrown at them. */
import { internalError } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { storeFailed } from '../upkeep/commit.ts';
import { StoreUnreadable } from '../upkeep/lasting-reads.ts';
import { sayFault } from './record-refusal.ts';
import { unrecorded } from '../ending/stored-reply.ts';
import { nextActions, type Shell } from '../shell.ts';

/** The caller gets a typed reply, the operator the cause, under one correlation id. */
export function unexpected(error: unknown, call: Call, effect: Effect, shell: Shell): Reply {
  if (error instanceof StoreUnreadable) return notRead(error, call, effect, shell);
  const correlationId = shell.ports.ids.random('err_');
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  shell.ports.notify({ kind: 'unexpected', correlationId, message: `call ${call.id} met a bug`, cause });
  const requested = call.tool === '' ? null : call.tool;
  // Where there are workflows, what is next depends on a session that a bug may have kept from being read.
  const next = requested === null || shell.workflows.size > 0 ? [] : nextActions(shell, call);
  const envelope = { requested, callId: call.id, session: null, nextActions: next };
  return internalError(envelope, correlationId, effect);
}

/** A file that cannot be read is the store's trouble, and told as one that cannot be written. */
function notRead({ message }: StoreUnreadable, call: Call, effect: Effect, shell: Shell): Reply {
  storeFailed({ fault: 'io', message }, shell);
  return effect === 'none' ? sayFault(call.tool, null, 'io', shell) : unrecorded(call, shell);
}
