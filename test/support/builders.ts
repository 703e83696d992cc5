/** Calls, requests and facts as tests need them: complete, valid, and changed in one place. */
import type { Call, CallId, Request, SessionId } from '../../src/core/call/call.ts';
import type { Catalogue, ToolEntry } from '../../src/core/call/catalogue.ts';
import type { Facts } from '../../src/core/gates/facts.ts';

export const aCall = (change: Partial<Call> = {}): Call => ({
  id: 'call_1' as CallId,
  tenant: 'default',
  agent: 'agent',
  session: 'ses_1' as SessionId,
  turn: null,
  tool: 'pay',
  key: null,
  fingerprint: 'f'.repeat(64),
  effectClass: 'plain',
  state: '(none)',
  attempt: 0,
  owner: null,
  tainted: false,
  createdAtMs: 1_000,
  deadlineAtMs: 901_000,
  dueAtMs: null,
  ...change,
});

export const aRequest = (change: Partial<Request> = {}): Request => ({
  tool: 'pay',
  args: {},
  argsText: '{}',
  session: null,
  key: null,
  turn: null,
  expectedSeq: null,
  waitMs: null,
  model: null,
  deadlineMs: null,
  ...change,
});

export const aTool = (change: Partial<ToolEntry> = {}): ToolEntry => ({
  name: 'pay',
  description: '',
  effectClass: 'plain',
  timeoutMs: 1_000,
  dedupeWindowMs: null,
  reportsWithinMs: null,
  input: { kind: 'anything' },
  invokes: change.name ?? 'pay',
  inputSchema: null,
  listing: null,
  policyName: change.name ?? 'pay',
  reach: 'destructive',
  host: null,
  manifest: '{}',
  ...change,
});

export const aCatalogue = (...tools: readonly ToolEntry[]): Catalogue =>
  new Map(tools.map((tool) => [tool.name, tool]));

export const facts = (change: Partial<Facts> = {}): Facts => ({
  principal: { tenant: 'default', agent: 'local' },
  nowMs: 1_000,
  readiness: { ready: true },
  catalogue: aCatalogue(aTool()),
  session: { found: true, id: 'ses_1' as SessionId, state: 'open', reason: null, seq: 0, step: null },
  inFlight: { now: 0, max: 10 },
  ...change,
});
