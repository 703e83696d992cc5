/** What the upstream does under a fault: waits, effects and the answer. Pure; others carry it out. */
import type { Json } from '../core/values/json.ts';
import { type Fault, type FaultName, rpcStatuses } from './fault-table.ts';

/** A complete answer over HTTP. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

export type Answer =
  /** The answer of the operation itself. */
  | { readonly kind: 'own' }
  /** Another value in its place. */
  | { readonly kind: 'instead'; readonly body: Json }
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'refuse'; readonly ms: number }
  | { readonly kind: 'malformed' | 'truncated' | 'drop' | 'nothing' | 'tool_error' | 'rpc_error' };

export interface Behaviour {
  readonly beforeMs: number;
  readonly executions: 0 | 1 | 2;
  /** The effect is made so much later, whatever the answer; null if it is made now. */
  readonly lateMs: number | null;
  readonly afterMs: number;
  readonly answer: Answer;
}

const healthy: Behaviour = { beforeMs: 0, executions: 1, lateMs: null, afterMs: 0, answer: { kind: 'own' } };
const answering = (answer: Answer, executions: 0 | 1 = 1): Behaviour => ({ ...healthy, executions, answer });

type Plan = (fault: Fault, nowMs: number) => Behaviour;

const nothingDone = (status: number, code: string): Plan => {
  return () => answering(replying(problem(status, code)), 0);
};
const serverError = (status: number): Plan => {
  return ({ when }) => answering(replying(problem(status, 'server_error')), executionsOf(when));
};

const plans: Readonly<Record<FaultName, Plan>> = {
  none: () => healthy,
  drop_before: () => answering({ kind: 'drop' }, 0),
  drop_after: () => answering({ kind: 'drop' }),
  slow: ({ ms }) => ({ ...healthy, beforeMs: ms }),
  slow_after: ({ ms }) => ({ ...healthy, afterMs: ms }),
  late_execution: ({ ms, answer }) => ({ ...answering({ kind: answer }), lateMs: ms }),
  duplicate: () => ({ ...healthy, executions: 2 }),
  '429': (fault, nowMs) => answering(replying(problem(429, 'rate_limited', retryAfter(fault, nowMs))), 0),
  '500': serverError(500),
  '502': serverError(502),
  '503': serverError(503),
  malformed: () => answering({ kind: 'malformed' }),
  wrong_schema: () => answering({ kind: 'instead', body: { unexpected: ['shape'] } }),
  truncated: () => answering({ kind: 'truncated' }),
  huge: ({ bytes }) => answering({ kind: 'instead', body: { padding: 'x'.repeat(bytes) } }),
  '401': nothingDone(401, 'unauthenticated'),
  '403': nothingDone(403, 'forbidden'),
  '404': nothingDone(404, 'not_found'),
  '409': ({ subject }) => answering(replying(problem(409, `idempotency_key_${subject}`)), 0),
  '412': nothingDone(412, 'precondition_failed'),
  problem: ({ status, code, when }) => answering(replying(problem(status, code)), executionsOf(when)),
  rpc_status: (fault) => answering(replying(rpcStatus(fault)), executionsOf(fault.when)),
  redirect: ({ to }) => answering(replying({ status: 307, headers: { location: to }, body: {} }), 0),
  refuse_connections: ({ ms }) => answering({ kind: 'refuse', ms }, 0),
  tool_error: ({ when }) => answering({ kind: 'tool_error' }, executionsOf(when)),
  rpc_error: ({ when }) => answering({ kind: 'rpc_error' }, executionsOf(when)),
};

/** `nowMs` is for dates in headers. */
export const planBehaviour = (fault: Fault, nowMs: number): Behaviour => plans[fault.fault](fault, nowMs);

const executionsOf = (when: Fault['when']) => (when === 'after' ? 1 : 0);

const replying = (reply: Reply): Answer => ({ kind: 'reply', reply });

/** RFC 9457, with a code for programs. */
export function problem(status: number, code: string, headers: Reply['headers'] = {}, detail = code): Reply {
  const body = { type: 'about:blank', title: code.replaceAll('_', ' '), status, code, detail };
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body };
}

function retryAfter({ retry_after: form, seconds }: Fault, nowMs: number): Reply['headers'] {
  if (form === 'none') return {};
  if (form === 'seconds') return { 'retry-after': String(seconds) };
  // Dates have whole seconds: rounded up, so that the wait is not shorter than asked.
  return { 'retry-after': new Date(Math.ceil(nowMs / 1_000) * 1_000 + seconds * 1_000).toUTCString() };
}

function rpcStatus({ rpc }: Fault): Reply {
  const [code, status] = rpcStatuses[rpc];
  const error = { code, status: rpc, message: `the fault rpc_status says ${rpc}`, details: [] };
  return { status, headers: { 'content-type': 'application/json' }, body: { error } };
}
