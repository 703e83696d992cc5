/** Which calls are recognised by their envelope? Never one that the SDK would not let pass. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { createKnownEnvelopes, plainCall } from './plain-call.ts';

const revision = '2026-07-28';
const meta = {
  [PROTOCOL_VERSION_META_KEY]: revision,
  [CLIENT_INFO_META_KEY]: { name: 'c', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: { sampling: {} },
};
const params = { name: 'buy', arguments: { n: 1 }, _meta: meta };
const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
const headers = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'buy' };

const request = (given: Readonly<Record<string, string>> = headers, method = 'POST') =>
  ({ method, headers: given }) as unknown as IncomingMessage;

/** What the SDK makes of it, without anything that is remembered. */
function judged(value: unknown, from: IncomingMessage) {
  const { 'mcp-protocol-version': version, 'mcp-method': ofMethod, 'mcp-name': ofName } = from.headers;
  const outcome = classifyInboundRequest({
    httpMethod: from.method ?? '',
    body: value,
    ...(version === undefined ? {} : { protocolVersionHeader: String(version) }),
    ...(ofMethod === undefined ? {} : { mcpMethodHeader: String(ofMethod) }),
    ...(ofName === undefined ? {} : { mcpNameHeader: String(ofName) }),
  });
  return plainCall(outcome, from);
}

function remembering(...bodies: readonly unknown[]) {
  const known = createKnownEnvelopes();
  for (const each of bodies) {
    const call = judged(each, request());
    assert.ok(call !== null);
    known.remember(call);
  }
  return known;
}

const withMeta = (own: object) => ({ ...body, params: { ...params, _meta: { ...meta, ...own } } });

const table: readonly (readonly [string, unknown, boolean])[] = [
  ['the same call', body, true],
  ['another id', { ...body, id: 'x-2' }, true],
  ['other arguments', { ...body, params: { ...params, arguments: null } }, true],
  ['our own words beside the envelope', withMeta({ 'recourse/key': 'k', 'recourse/session': 7 }), true],
  ['another client', withMeta({ [CLIENT_INFO_META_KEY]: { name: 'd', version: '1' } }), false],
  ['a client that says less', withMeta({ [CLIENT_CAPABILITIES_META_KEY]: {} }), false],
  ['another revision', withMeta({ [PROTOCOL_VERSION_META_KEY]: '2025-11-25' }), false],
  ['somebody who wants to hear of progress', withMeta({ progressToken: 1 }), false],
  ['no envelope', { ...body, params: { name: 'buy' } }, false],
  ['an answer to a question', { ...body, params: { ...params, inputResponses: {} } }, false],
  ['a question of another request', { ...body, params: { ...params, requestState: 's' } }, false],
  ['another name than its header', { ...body, params: { ...params, name: 'sell' } }, false],
  ['another method', { ...body, method: 'tools/list' }, false],
  ['an id that is none', { ...body, id: 1.5 }, false],
  ['no id', { jsonrpc: '2.0', method: 'tools/call', params }, false],
  ['one field too many', { ...body, more: 1 }, false],
  ['one field in the place of another', { ...body, jsonrpc: undefined, more: 1 }, false],
  ['another JSON-RPC', { ...body, jsonrpc: '1.0' }, false],
  ['a list', [body], false],
  ['nothing', undefined, false],
];

for (const [what, value, expected] of table)
  test(`${what} is ${expected ? '' : 'not '}recognised`, () => {
    const found = remembering(body).recognise(value, request());
    assert.equal(found !== null, expected);
    if (expected) assert.deepEqual(found, judged(value, request()));
  });

test('only a POST with the three headers is recognised', () => {
  const known = remembering(body);
  assert.equal(known.recognise(body, request(headers, 'GET')), null);
  for (const name of Object.keys(headers)) {
    assert.equal(known.recognise(body, request({ ...headers, [name]: 'other' })), null, name);
    const { [name as keyof typeof headers]: _left, ...fewer } = headers;
    assert.equal(known.recognise(body, request(fewer)), null, `without ${name}`);
  }
});

test('envelopes are remembered up to a number and a length, and the newest always', () => {
  const version = (at: number) => withMeta({ [CLIENT_INFO_META_KEY]: { name: 'c', version: String(at) } });
  const known = remembering(...Array.from({ length: 1_000 }, (_, at) => version(at)));
  const kept = Array.from({ length: 1_000 }, (_, at) => known.recognise(version(at), request()) !== null);
  assert.equal(kept.at(-1), true);
  assert.ok(kept.filter(Boolean).length <= 64);
  const long = withMeta({ [CLIENT_INFO_META_KEY]: { name: 'x'.repeat(10_000), version: '1' } });
  assert.equal(remembering(long).recognise(long, request()), null);
});

test('whatever is recognised, the SDK lets pass as the same call', () => {
  const odd = fc.constantFrom<unknown>(undefined, null, 0, 1.5, '', 'x', '2.0', revision, {}, [], { name: 'c' }, true);
  const place = fc.constantFrom(
    ['jsonrpc'],
    ['id'],
    ['method'],
    ['params'],
    ['more'],
    ['params', 'name'],
    ['params', 'arguments'],
    ['params', '_meta'],
    ['params', 'task'],
    ...[...Object.keys(meta), 'progressToken', 'recourse/key', 'x'].map((name) => ['params', '_meta', name]),
  );
  const known = remembering(body, withMeta({ 'recourse/key': 'k' }), withMeta({ x: 'x' }));
  let recognised = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(place, odd), { maxLength: 2 }), (changes) => {
      const value: Record<string, unknown> = structuredClone(body);
      for (const [steps, given] of changes) put(value, steps, structuredClone(given));
      const sent: unknown = JSON.parse(JSON.stringify(value));
      const found = known.recognise(sent, request());
      if (found === null) return;
      recognised += 1;
      assert.deepEqual(found, judged(sent, request()));
    }),
    { seed: 20_260_728, numRuns: 5_000 },
  );
  assert.ok(recognised > 500, `${recognised} were recognised`);
});

function put(value: unknown, [step, ...rest]: readonly string[], given: unknown): void {
  if (step === undefined || typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  if (rest.length === 0) fields[step] = given;
  else put(fields[step], rest, given);
}
