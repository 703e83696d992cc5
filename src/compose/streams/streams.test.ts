/** What is relayed of a stream shows neither secrets of credentials nor live keys, wherever they are cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptOf } from '../../../test/support/upstream-mcp.ts';
import { aKey } from '../../../test/support/live-key.ts';
import type { Relay, StreamEvent, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import { guardKeys } from '../serve/guard-keys.ts';
import { createSecretHider, hideSecrets } from '../serve/secret-hider.ts';

const part = (said: string, more: object = {}): StreamEvent => ({
  event: null,
  data: JSON.stringify({ said, ...more }),
  texts: [{ text: '0', path: ['said'], part: said }],
});
const saidIn = (events: readonly StreamEvent[]) =>
  events.map(({ data }) => (JSON.parse(data) as { readonly said?: string }).said ?? '').join('');
const returned: UpstreamResult = { kind: 'returned', output: null, errors: [] };

/** Relays these events, and says which of them were read. */
const relaying = (events: readonly StreamEvent[], heard: boolean[] = []): Upstream => ({
  async invoke({ relay }) {
    for (const event of events) heard.push((await relay?.send(event)) ?? false);
    return returned;
  },
});
const asked = (relay: Relay) => ({ ...attemptOf('m/chat', {}), relay });
const never = new AbortController().signal;

async function relayed(upstream: Upstream): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  const relay: Relay = { send: async (event) => events.push(event) > 0 };
  await upstream.invoke(asked(relay), never);
  return events;
}

const secret = 'planted"Secret/+ü=1';
const hider = () => {
  const made = createSecretHider();
  made.add(secret);
  return made;
};

test('a secret that is cut into single characters is hidden, as it is and encoded', async () => {
  for (const form of [secret, JSON.stringify(secret), Buffer.from(secret).toString('base64')]) {
    const events = await relayed(hideSecrets(relaying([...`a ${form} z`].map((each) => part(each))), hider()));
    assert.match(saidIn(events), /^a .?\[redacted\].? z$/);
  }
});

test('a secret in other fields, in names and behind escapes is hidden, and what is no JSON', async () => {
  const whole = (data: string): StreamEvent => ({ event: null, data });
  const escaped = JSON.stringify({ id: secret }).replace('planted', String.raw`\u0070lanted`);
  const events = [part('x', { id: secret }), part('x', { [secret]: 1 }), whole(escaped), whole(`not JSON: ${secret}`)];
  for (const { data } of await relayed(hideSecrets(relaying(events), hider()))) {
    assert.match(data, /\[redacted\]/);
    assert.doesNotMatch(data, /Secret/);
  }
});

test('what holds no secret is relayed as it came', async () => {
  const events = [part('plan'), { event: 'ping', data: '[DONE]' }, part('ted otherwise \\n')];
  assert.deepEqual(await relayed(hideSecrets(relaying(events), hider())), events);
});

test('a reader who is gone is told at once, and nothing is sent after the attempt', async () => {
  const heard: boolean[] = [];
  let late: Relay | undefined;
  const upstream: Upstream = {
    async invoke(attempt, signal) {
      late = attempt.relay;
      return relaying([part('a'), part('b')], heard).invoke(attempt, signal);
    },
  };
  const sent: StreamEvent[] = [];
  const once: Relay = { send: async (event) => sent.push(event) > 1 };
  await hideSecrets(upstream, hider()).invoke(asked(once), never);
  assert.deepEqual(heard, [false, false]);
  assert.deepEqual(saidIn(sent), 'a');
  const events = await relayed(hideSecrets(upstream, hider()));
  assert.equal(await late?.send(part('c')), false);
  assert.deepEqual(saidIn(events), 'ab');
});

test('a live key that is cut into single characters is masked, a revoked one and what only looks like one is not', async (t) => {
  const keys = await aKey(t);
  const revoked = await aKey(t, true);
  const store = `${(await import('../../../test/support/open-gateway.ts')).folderOf(t)}/recourse.db`;
  const guard = guardKeys(
    { invoke: (attempt, signal) => inner.invoke(attempt, signal) },
    {
      store,
      nowMs: () => Date.now(),
      onMasked: () => undefined,
    },
  );
  let inner = relaying([]);
  const through = async (text: string, cut = [...text]) => {
    inner = relaying(cut.map((each) => part(each)));
    return saidIn(await relayed(guard.upstream));
  };
  assert.equal(await through(`the key is ${keys.key}.`), `the key is ${keys.shown}.`);
  assert.equal(await through(keys.key), keys.shown);
  assert.equal(await through(keys.key, [keys.key.slice(0, 30), keys.key.slice(30)]), keys.shown);
  assert.equal(await through(keys.key, [keys.key]), keys.shown);
  for (const same of [
    revoked.key,
    'rk_ and rk_0123 are no keys',
    `rk_${'0'.repeat(16)}_${'a'.repeat(43)}`,
    'ends in rk_0',
  ])
    assert.equal(await through(same), same);
  inner = relaying([{ event: null, data: JSON.stringify({ [keys.key]: [keys.key] }) }]);
  assert.ok(!JSON.stringify(await relayed(guard.upstream)).includes(keys.secret));
  await guard.close();
  await keys.close();
  await revoked.close();
});
