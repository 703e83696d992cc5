/** An upstream for the models of a local provider, and a reader of what it relays. */
import type { TestContext } from 'node:test';
import { createModelUpstream, type ModelUpstreamParts } from '../../../src/adapters/upstream-model/model-upstream.ts';
import type { ModelProvider } from '../../../src/core/model/model-provider.ts';
import type { ModelProtocol } from '../../../src/core/model/protocol.ts';
import { anthropicProtocol } from '../../../src/extensions/anthropic/anthropic-protocol.ts';
import { openaiProtocol } from '../../../src/extensions/openai/openai-protocol.ts';
import type { Attempt, Failure, Relay, StreamEvent, UpstreamResult } from '../../../src/ports/upstream.ts';
import { attemptOf } from '../function-upstream.ts';
import { aProvider } from './a-provider.ts';

export const protocols: Readonly<Record<string, ModelProtocol>> = {
  openai: openaiProtocol,
  anthropic: anthropicProtocol,
};

export const requests = {
  chat: { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'gpt-5', input: 'hi' },
  messages: { model: 'claude', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] },
} as const;

export type Operation = keyof typeof requests;

export const kindOf = (operation: Operation): string => (operation === 'messages' ? 'anthropic' : 'openai');

export interface Told extends Relay {
  readonly events: StreamEvent[];
}

/** Reads everything; `leavesAfter` so many events it does not. */
export function aReader(leavesAfter = Infinity): Told {
  const events: StreamEvent[] = [];
  return {
    events,
    send: async (event) => {
      events.push(event);
      return events.length < leavesAfter;
    },
  };
}

export type Ask = (
  operation: Operation,
  args?: object,
  more?: Partial<Attempt> & { readonly signal?: AbortSignal },
) => Promise<UpstreamResult>;

interface Where {
  readonly openai: string;
  readonly anthropic: string;
}

/** Asks by the upstream of the kind that the operation needs. */
export function askerFor(
  t: Pick<TestContext, 'after'>,
  where: Where,
  change: Partial<ModelProvider> = {},
  parts: ModelUpstreamParts = {},
): Ask {
  const upstreams = new Map(
    Object.entries(protocols).map(([kind, protocol]) => {
      const url = kind === 'openai' ? where.openai : where.anthropic;
      const provider = aProvider({ name: 'it', kind, url, protocol, ...change });
      return [kind, createModelUpstream(provider, parts)] as const;
    }),
  );
  t.after(async () => void (await Promise.all([...upstreams.values()].map((each) => each.close()))));
  return async (operation, args = {}, { signal = new AbortController().signal, ...more } = {}) => {
    const upstream = upstreams.get(kindOf(operation))?.upstream;
    if (upstream === undefined) throw new Error(`no upstream for ${operation}`);
    const base = attemptOf(`it/${operation}`, { ...requests[operation], ...args });
    return upstream.invoke({ ...base, timeoutMs: 60_000, ...more }, signal);
  };
}

export function failureOf(result: UpstreamResult): Failure {
  if (result.kind === 'failed') return result.failure;
  throw new Error(`it returned ${JSON.stringify(result.output)}`);
}
