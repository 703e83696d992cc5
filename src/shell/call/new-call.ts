/** A call as it begins: nothing about it is decided, and nothing is on record. */
import type { Call, CallId, Principal } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { ReadRequest } from '../../core/call/request.ts';
import type { Shell } from '../shell.ts';

export function newCall(read: ReadRequest, who: Principal, shell: Shell): Call {
  const now = shell.ports.clock.nowMs();
  const request = read.ok ? read.request : null;
  const tool = read.ok ? read.request.tool : (read.requested ?? '');
  const identity = read.ok ? read.request.argsText : canonicalText(read.errors as unknown as Json);
  return {
    id: shell.ports.ids.ordered('call_', now) as CallId,
    ...who,
    session: null,
    turn: request?.turn ?? null,
    tool,
    key: request?.key ?? null,
    // INVARIANT: the fingerprint is of the arguments as they were sent, before any validator touched them.
    fingerprint: fingerprintIn(request?.session ?? '', tool, identity, shell),
    effectClass: 'plain',
    state: '(none)',
    attempt: 0,
    owner: null,
    tainted: false,
    createdAtMs: now,
    deadlineAtMs: now + (request?.deadlineMs ?? shell.limits.defaultDeadlineMs),
    dueAtMs: null,
  };
}

/** How long it has taken until now: looking for facts, asking validators, waiting for its turn. */
export function sinceArrival({ createdAtMs }: Call, { ports }: Shell): number {
  return Math.max(0, ports.clock.nowMs() - createdAtMs);
}

/** A step is a step of its session: the same action with the same inputs in another one is another call. */
export function fingerprintIn(handle: string, tool: string, identity: string, shell: Shell): string {
  const place = handle.startsWith(`ses_${shell.storeTag}_`) ? `${handle}\u0000` : '';
  return shell.ports.sha256(`${tool}\u0000${place}${identity}`);
}
