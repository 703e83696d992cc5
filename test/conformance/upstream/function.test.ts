/** Tools that are functions keep the contract of upstreams. */
import { createFunctionUpstream } from '../../../src/adapters/upstream-function/function-upstream.ts';
import { ToolFailure, tool } from '../../../src/index.ts';
import { type Fault, planted, provesUpstream } from '../../../src/extension/proves/proves-upstream.ts';

type Statement = ConstructorParameters<typeof ToolFailure>[0];

const stated: Readonly<Partial<Record<Fault, Omit<Statement, 'message'>>>> = {
  'input refused': { kind: '400_invalid' },
  'not authenticated': { kind: '401_unauthenticated' },
  forbidden: { kind: '403_forbidden' },
  'not found': { kind: '404_not_found' },
  'a key in flight': { kind: '409_conflict', subject: 'in_flight' },
  'a key completed': { kind: '409_conflict', subject: 'completed' },
  'a key of another request': { kind: '409_conflict', subject: 'mismatch' },
  'a conflict without a code': { kind: '409_conflict' },
  'stale evidence': { kind: '412_precondition', subject: 'evidence' },
  'a rate limit of 7 seconds': { kind: '429', retry_after_seconds: 7 },
  'a failure of its own': { kind: '5xx' },
  'never sent': { kind: 'never_sent' },
  'dropped after it was sent': { kind: 'timeout' },
};

provesUpstream('a function', {
  cannot: {
    'an answer beyond the limit': 'a result of a function is bounded by the shell',
    'a late answer': 'a function that is stopped is awaited, and its end is its late answer',
  },
  async stage(t, fault) {
    let begun = false;
    const released = Promise.withResolvers<void>();
    const run = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
      begun = true;
      const statement = stated[fault];
      if (statement !== undefined) throw new ToolFailure({ message: `no: ${planted}`, ...statement });
      if (fault === 'an answer that cannot be parsed') return { ok: 1n };
      if (fault === 'a result of the wrong shape') return { ok: 'maybe' };
      if (fault !== 'no answer until it is released') return { ok: true };
      const stop = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => stop.reject(signal.reason), { once: true });
      await Promise.race([released.promise, stop.promise]);
      return { ok: true };
    };
    const output = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const it = tool({ name: 'it', input: {}, output, run });
    const { upstream, close } = createFunctionUpstream([it]);
    t.after(close);
    return { upstream, tool: 'it', hasBegun: () => begun, release: () => released.resolve() };
  },
});
