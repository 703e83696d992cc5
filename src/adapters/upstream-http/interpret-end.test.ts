/** Whatever an API answers has one meaning, and words in it never change that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classify } from '../../core/recovery/classify.ts';
import { type ErrorKind, type ErrorSubject, kinds, verdicts } from '../../core/taxonomy.ts';
import { defaultKeyPlace, noConflictCodes } from './http-config.ts';
import { defaultHttpLimits } from './http-limits.ts';
import { interpretEnd } from './interpret-end.ts';
import { planRequest } from './plan-request.ts';

const plan = planRequest({ method: 'POST', path: '/refunds', query: null, headers: {}, body: undefined });

function meaningOf(status: number, body: string, headers: Readonly<Record<string, string>>) {
  return interpretEnd(
    { kind: 'answered', status, headers, body: Buffer.from(body) },
    {
      target: {
        name: 'pay',
        url: 'http://127.0.0.1/',
        headers: {},
        redirects: 'none',
        key: defaultKeyPlace,
        conflicts: noConflictCodes,
        limits: {},
      },
      tool: { name: 'refund', effectClass: 'plain', plan, checkOutput: null },
      limits: defaultHttpLimits,
      hide: (text) => text,
      nowMs: () => 0,
    },
  );
}

const type = fc.constantFrom('application/json', 'application/problem+json', 'text/plain', 'a', '');
const headers = fc.record({ 'content-type': type, 'retry-after': fc.oneof(fc.string(), fc.nat().map(String)) });
const body = fc.oneof(fc.json(), fc.string());

test('any status with any body is a result, or a failure with one verdict', () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 599 }), body, headers, async (status, text, head) => {
      const meaning = await meaningOf(status, text, head);
      if (meaning.kind === 'returned') return assert.ok(status < 300);
      const { kind, subject } = meaning.failure;
      assert.ok(Object.hasOwn(kinds, kind));
      assert.ok(subject === null || (kinds[kind].subjects as readonly string[]).includes(subject));
      const { verdict } = classify(kind as ErrorKind, (subject ?? undefined) as ErrorSubject | undefined, 'plain');
      assert.ok(Object.hasOwn(verdicts, verdict));
      const { failure } = (await meaningOf(status, '', head)) as typeof meaning;
      if (status >= 300) assert.equal(kind, failure.kind, 'the status decides');
    }),
  ));

const said = fc.oneof(
  fc.string(),
  fc.constantFrom('idempotency_key_completed', 'idempotency key already processed', 'evidence', '403', 'timeout'),
);
const words = fc.record({ message: said, detail: said, title: said, error_description: said }, { requiredKeys: [] });
const code = fc.constantFrom('idempotency_key_completed', 'idempotency_key_in_use', 'evidence_stale', 'other');

// Conflicts and preconditions are the only refusals that a body says more about.
const refusal = fc.oneof(fc.constantFrom(409, 412), fc.integer({ min: 300, max: 599 }));

test('words in a body change neither kind nor subject nor what is known of the effect', () =>
  fc.assert(
    fc.asyncProperty(refusal, words, words, code, async (status, one, other, given) => {
      const json = { 'content-type': 'application/problem+json' };
      const tell = async (texts: object, inner: object) => {
        const meaning = await meaningOf(status, JSON.stringify({ ...texts, code: given, error: inner }), json);
        assert.ok(meaning.kind === 'failed');
        const { kind, subject, effect, retryAfterSeconds } = meaning.failure;
        return { kind, subject, effect, retryAfterSeconds };
      };
      assert.deepEqual(await tell(one, other), await tell({}, {}));
    }),
  ));
