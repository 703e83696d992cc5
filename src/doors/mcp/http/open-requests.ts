/**
 * Which requests of a session over HTTP have no answer yet? The SDK finds the stream of an answer by the id of its request, so an
 * id that is one of them must not come a second time. Must not know what is asked.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { isObject } from '../../../core/values/json.ts';

export interface OpenRequests {
  /** Each with the exchange that brought it: a list brings several, which share a stream. */
  readonly open: Map<RequestId, Request | undefined>;
  /** Before the SDK sees a body: null if one of its ids is in use, otherwise what to call once the SDK has seen it. */
  expect(body: unknown): (() => void) | null;
}

export function createOpenRequests(): OpenRequests {
  const open = new Map<RequestId, Request | undefined>();
  /** On their way to the SDK: two bodies at once must not both pass. */
  const expected = new Set<RequestId>();
  return {
    open,
    expect(body) {
      const ids = (Array.isArray(body) ? body : [body]).flatMap(idOf);
      const isTwice = new Set(ids).size < ids.length;
      if (isTwice || ids.some((id) => open.has(id) || expected.has(id))) return null;
      for (const id of ids) expected.add(id);
      return () => {
        for (const id of ids) expected.delete(id);
      };
    },
  };
}

/** Of a request only; an answer of the client has the id of a question of ours. */
function idOf(message: unknown): readonly RequestId[] {
  if (!isObject(message) || !('method' in message)) return [];
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}
