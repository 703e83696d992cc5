import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { aReader, askerFor, failureOf, type Operation, requests } from '../../../test/support/models/model-upstream.ts';
import type { Fault } from '../../../test/support/models/script.ts';
import { startProvider } from '../../../test/support/models/start-provider.ts';
import type { Json } from '../../core/values/json.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';

const operations: readonly Operation[] = ['chat', 'responses', 'messages'];
const says = { text: 'It is fine today.', tokens: { input: 30, output: 6 } };

const idsRemoved = (value: Json): unknown => JSON.parse(JSON.stringify(value).replaceAll(/([-_])0000\d\d/g, '$1n'));

/** What only a plain chat completion says. */
function withoutAnnotations(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(',"annotations":[]}', '}'));
}

for (const operation of operations)
  describe(operation, () => {
    test('a stream gives the answer that a plain request gives, and relays what the provider sent', async (t) => {
      const provider = await startProvider(t, { always: { says } });
      const ask = askerFor(t, provider);
      const plain = await ask(operation);
      const reader = aReader();
      const streamed = await ask(operation, { stream: true }, { relay: reader });
      const unread = await ask(operation, { stream: true });
      if (plain.kind !== 'returned' || streamed.kind !== 'returned' || unread.kind !== 'returned')
        return assert.fail(JSON.stringify([plain, streamed, unread]));
      // The parts of a response have annotations in both.
      const whole = idsRemoved(plain.output as Json);
      assert.deepEqual(idsRemoved(streamed.output as Json), operation === 'chat' ? withoutAnnotations(whole) : whole);
      assert.deepEqual(idsRemoved(unread.output as Json), idsRemoved(streamed.output as Json));
      const [, entry] = provider.ledger;
      // Chat completions have one more, which nobody asked for: that with the usage.
      assert.equal(
        reader.events.length,
        (entry?.events ?? 0) - (operation === 'chat' ? 2 : 0) + (operation === 'chat' ? 1 : 0),
      );
    });

    test('nothing is said to the provider that is not in the arguments or in the file', async (t) => {
      const provider = await startProvider(t);
      const headers = { Authorization: 'Bearer of-the-file', 'X-Team': 'a', Connection: 'close' };
      const declared = { models: [{ name: 'real' }], aliases: { fast: 'real' } };
      await askerFor(t, provider, { headers, declared })(operation, { model: 'fast', extra: { kept: [1] } });
      const [entry] = provider.ledger;
      assert.deepEqual(entry?.body, { ...requests[operation], model: 'real', extra: { kept: [1] } });
      const { host: _, connection: __, 'content-length': ___, ...sent } = entry.headers;
      assert.deepEqual(sent, {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'recourse',
        'content-type': 'application/json',
        authorization: 'Bearer of-the-file',
        'x-team': 'a',
        ...(operation === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
      });
    });

    test('a credential is put in at the wire, and hidden where the provider repeats it', async (t) => {
      const provider = await startProvider(t, { keys: ['sk-secret-of-the-broker'] });
      const inject = { into: 'header', name: operation === 'messages' ? 'X-Api-Key' : 'Authorization' } as const;
      const value = operation === 'messages' ? 'sk-secret-of-the-broker' : 'Bearer sk-secret-of-the-broker';
      const handle = { name: 'key', inject, reveal: () => value, usedId: () => null } as unknown as CredentialHandle;
      const ask = askerFor(t, provider);
      assert.equal((await ask(operation, {}, { credentials: [handle] })).kind, 'returned');
      assert.equal(failureOf(await ask(operation)).kind, '401_unauthenticated');
      const unavailable = { ...handle, reveal: () => null };
      assert.equal(failureOf(await ask(operation, {}, { credentials: [unavailable] })).kind, 'never_sent');
    });

    test('a reader who leaves ends the request, and what had come is told', async (t) => {
      const provider = await startProvider(t, { always: { says, holdAfter: 3 } });
      const reader = aReader(2);
      const failure = failureOf(await askerFor(t, provider)(operation, { stream: true }, { relay: reader }));
      assert.deepEqual([failure.kind, failure.used, typeof failure.partial], ['cancelled', undefined, 'object']);
      assert.equal(reader.events.length, 2);
      await eventually('the connection has ended', async () => provider.ledger[0]?.ended === 'left');
    });

    test('a slow reader holds the provider back, and loses nothing', async (t) => {
      const long = { text: 'word '.repeat(400), tokens: { input: 1, output: 1 }, pieceChars: 5 };
      const provider = await startProvider(t, { always: { says: long } });
      const events: unknown[] = [];
      let atOnce = 0;
      const relay = {
        send: async (event: unknown) => {
          assert.equal(++atOnce, 1);
          await new Promise((resolve) => setImmediate(resolve));
          events.push(event);
          atOnce--;
          return true;
        },
      };
      assert.equal((await askerFor(t, provider)(operation, { stream: true }, { relay })).kind, 'returned');
      assert.ok(events.length >= 400);
    });

    const cuts: readonly (readonly [string, Fault])[] = [
      ['a connection that closes in mid-stream', { kind: 'drop', when: 3 }],
      ['a stream that ends without its last event', { kind: 'end_early', after: 3 }],
      ['an event that is no JSON', { kind: 'malformed', after: 3 }],
      ['an event without an end', { kind: 'endless_event', after: 3 }],
      ['silence in mid-stream', { kind: 'stall', when: 3 }],
    ];
    for (const [what, fault] of cuts) {
      test(`${what} is a broken stream, with what had come`, async (t) => {
        const provider = await startProvider(t, { always: { says, fault } });
        const limits = { bodyTimeoutMs: 50 };
        const parts = { limits: { maxEventChars: 100_000 } };
        const ask = askerFor(t, provider, { limits }, parts);
        const reader = aReader();
        const failure = failureOf(await ask(operation, { stream: true }, { relay: reader }));
        assert.deepEqual([failure.kind, failure.subject, failure.code], ['5xx', 'stream_broken', null]);
        assert.deepEqual([reader.events.length, failure.used, typeof failure.partial], [3, undefined, 'object']);
      });

      test(`${what} may be asked again if nothing was relayed`, async (t) => {
        const provider = await startProvider(t, { always: { says, fault } });
        const ask = askerFor(t, provider, { limits: { bodyTimeoutMs: 50 } }, { limits: { maxEventChars: 100_000 } });
        const failure = failureOf(await ask(operation, { stream: true }));
        const isShape = fault.kind === 'malformed' || fault.kind === 'endless_event';
        const kind = isShape ? 'schema_validation' : fault.kind === 'end_early' ? '5xx' : 'timeout';
        assert.deepEqual([failure.kind, failure.subject], [kind, isShape ? 'response' : null]);
        assert.equal(failure.code, kind === 'timeout' ? 'NetworkTimeout' : null);
      });
    }

    test('what comes byte by byte is read like anything else', async (t) => {
      const provider = await startProvider(t, { always: { says, fault: { kind: 'trickle' } } });
      assert.equal((await askerFor(t, provider)(operation, { stream: true })).kind, 'returned');
    });

    const lost: readonly (readonly [string, Fault, readonly unknown[]])[] = [
      [
        'a connection that closes before the head',
        { kind: 'drop', when: 'before_head' },
        ['timeout', 'NetworkTimeout'],
      ],
      ['a connection that closes after the head', { kind: 'drop', when: 'after_head' }, ['timeout', 'NetworkTimeout']],
      ['no head in time', { kind: 'stall', when: 'before_head' }, ['timeout', 'NetworkTimeout']],
      ['a body that does not come', { kind: 'stall', when: 'after_head' }, ['timeout', 'NetworkTimeout']],
      ['a body that is no JSON', { kind: 'malformed' }, ['schema_validation', null]],
      ['a redirect', { kind: 'redirect', to: 'http://127.0.0.1:9/' }, ['unknown', null]],
    ];
    for (const [what, fault, expected] of lost)
      test(`${what} is ${String(expected[0])}`, async (t) => {
        const provider = await startProvider(t, { always: { fault } });
        const ask = askerFor(t, provider, { limits: { headersTimeoutMs: 50, bodyTimeoutMs: 50 } });
        const { kind, code } = failureOf(await ask(operation));
        assert.deepEqual([kind, code], expected);
        assert.equal(provider.ledger.length, 1);
      });
  });
