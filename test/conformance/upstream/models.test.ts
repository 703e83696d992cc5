/** Providers of models keep the contract of upstreams, against a real server. */
import type { ServerResponse } from 'node:http';
import { createModelUpstream } from '../../../src/adapters/upstream-model/model-upstream.ts';
import { anthropicProtocol } from '../../../src/extensions/anthropic/anthropic-protocol.ts';
import { openaiProtocol } from '../../../src/extensions/openai/openai-protocol.ts';
import { listenApi } from '../../support/http/api.ts';
import { aProvider } from '../../support/models/a-provider.ts';
import { type Fault, planted, provesUpstream } from '../../../src/extension/proves/proves-upstream.ts';

const noKeys = 'a request to a model has no key: asking changes nothing';
const cannot = {
  'a key in flight': noKeys,
  'a key completed': noKeys,
  'a key of another request': noKeys,
  'stale evidence': 'providers have no evidence',
  'a late answer': 'an answer that nobody waits for is not paid for: its connection is closed',
} as const;

const statuses: Readonly<Partial<Record<Fault, number>>> = {
  'input refused': 400,
  'not authenticated': 401,
  forbidden: 403,
  'not found': 404,
  'a conflict without a code': 409,
  'a rate limit of 7 seconds': 429,
  'a failure of its own': 500,
};

const bodies: Readonly<Partial<Record<Fault, string>>> = {
  'a result of the wrong shape': '["no", "object"]',
  'an answer that cannot be parsed': '{"id":',
  'an answer beyond the limit': JSON.stringify({ id: 'x'.repeat(5_000) }),
};

for (const [kind, protocol, tool] of [
  ['openai', openaiProtocol, 'it/chat'],
  ['openai', openaiProtocol, 'it/responses'],
  ['anthropic', anthropicProtocol, 'it/messages'],
] as const)
  provesUpstream(`a provider of the kind ${kind}, ${tool}`, {
    cannot,
    async stage(t, fault) {
      const waiting: ServerResponse[] = [];
      const api = await listenApi(t, (_, response) => {
        const status = statuses[fault] ?? 200;
        const headers = { 'content-type': 'application/json', ...(status === 429 ? { 'retry-after': '7' } : {}) };
        const said = status === 200 ? '{"id":"1"}' : JSON.stringify({ error: { message: `no: ${planted}` } });
        if (fault === 'dropped after it was sent') response.socket?.destroy();
        else if (fault === 'no answer until it is released') waiting.push(response);
        else response.writeHead(status, headers).end(bodies[fault] ?? said);
      });
      if (fault === 'never sent') await api.stop();
      const headers = { Authorization: planted };
      const limits = { maxResponseBytes: 1_000 };
      const { upstream, close } = createModelUpstream(
        aProvider({ name: 'it', kind, url: api.url, headers, limits, protocol }),
      );
      t.after(close);
      const release = () => {
        for (const response of waiting) response.writeHead(200).end('{}');
      };
      return { upstream, tool, hasBegun: () => api.heard.length > 0, release };
    },
  });
