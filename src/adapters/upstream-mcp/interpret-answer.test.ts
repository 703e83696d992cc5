import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { defaultMcpLimits } from './mcp-limits.ts';
import type { RpcError } from './rpc-message.ts';
import { describeAnswer, interpretAnswer } from './interpret-answer.ts';
import type { WireAnswer } from './wire-answer.ts';

const weigh = (answer: WireAnswer) => interpretAnswer(answer, 'own', defaultMcpLimits);
const refusedAs = (status: number, said: RpcError | null = null): WireAnswer => ({
  kind: 'refused',
  status,
  retryAfterSeconds: null,
  cause: '',
  said,
  redirectsTo: null,
});
function kindAndEffect(answer: WireAnswer) {
  const result = weigh(answer);
  return result.kind === 'failed' ? [result.failure.kind, result.failure.effect] : [result.kind];
}

test('each end has its kind, and an effect only where it is certain', () => {
  const cases: readonly [WireAnswer, readonly unknown[]][] = [
    [{ kind: 'unsent', reason: 'away', cause: '' }, ['never_sent', 'none']],
    [{ kind: 'lost', reason: 'died', cause: '' }, ['unknown', null]],
    [{ kind: 'timed_out' }, ['timeout', null]],
    [{ kind: 'aborted', sent: true }, ['cancelled', null]],
    [{ kind: 'aborted', sent: false }, ['cancelled', 'none']],
    [refusedAs(412), ['412_precondition', null]],
    [refusedAs(418), ['unknown', null]],
    // By the statuses that mean the same elsewhere; by those that do not, a form was perhaps taken.
    [refusedAs(307), ['unknown', 'none']],
    [refusedAs(308), ['unknown', 'none']],
    [refusedAs(303), ['unknown', null]],
    [{ kind: 'result', result: { content: [] } }, ['returned']],
    [{ kind: 'result', result: { content: [], isError: 'no' } }, ['returned']],
    [{ kind: 'result', result: { resultType: 'vendor/odd' } }, ['unknown', null]],
    [{ kind: 'result', result: [] }, ['schema_validation', null]],
    [{ kind: 'result', result: { structuredContent: {} } }, ['returned']],
    [{ kind: 'result', result: { content: 'a text' } }, ['schema_validation', null]],
    [{ kind: 'result', result: { content: 'a text', isError: true } }, ['threw', null]],
  ];
  for (const [answer, expected] of cases) {
    assert.deepEqual(kindAndEffect(answer), expected, JSON.stringify(answer));
    assert.ok(describeAnswer(answer).length > 0);
  }
});

test('a JSON-RPC error says what was wrong, and not whether it was before the tool ran', () => {
  const cases: readonly [number, string][] = [
    [-32_700, '400_invalid'],
    [-32_600, '400_invalid'],
    [-32_601, '404_not_found'],
    [-32_602, '400_invalid'],
    [-32_603, '5xx'],
    [-32_002, '404_not_found'],
    [-32_020, '400_invalid'],
    [-32_021, 'unknown'],
    [-32_022, 'unknown'],
    [-32_042, 'unknown'],
    [-1, 'unknown'],
  ];
  for (const [code, kind] of cases) {
    const error = { code, message: '', data: null };
    assert.deepEqual(kindAndEffect({ kind: 'error', ...error }), [kind, 'unknown'], String(code));
    // Only for these two the revision prescribes the status, and that nothing was done.
    const beforehand = code === -32_021 || code === -32_022 ? 'none' : 'unknown';
    assert.deepEqual(kindAndEffect(refusedAs(400, error)), [kind, beforehand], String(code));
    assert.deepEqual(kindAndEffect(refusedAs(404, error)), [kind, 'unknown'], String(code));
  }
});

test('a result passes as it is, and only a mark of the revision is taken off', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (result) => {
      const own = Object.fromEntries(
        Object.entries(result).filter(([key]) => key !== 'isError' && key !== 'resultType'),
      );
      assert.deepEqual(weigh({ kind: 'result', result: own }), { kind: 'returned', output: own, errors: [] });
      const marked = { ...own, resultType: 'complete' };
      assert.deepEqual(weigh({ kind: 'result', result: marked }), { kind: 'returned', output: own, errors: [] });
    }),
  );
});

test('whatever a server answers, the words that reach an agent are bounded text', () => {
  const answers = fc.oneof(
    fc.record({ kind: fc.constant('result' as const), result: fc.anything() }),
    fc.record({
      kind: fc.constant('result' as const),
      result: fc.record({ isError: fc.constant(true), content: fc.anything() }),
    }),
    fc.record({
      kind: fc.constant('error' as const),
      code: fc.integer(),
      message: fc.string({ unit: anyCharacter }),
      data: fc.anything(),
    }),
  );
  fc.assert(
    fc.property(answers, (answer) => {
      const result = weigh(answer);
      if (result.kind !== 'failed') return;
      assert.ok(result.failure.message.length <= 2_000 && result.failure.message.isWellFormed());
    }),
  );
  const long = { isError: true, content: [{ type: 'text', text: 'x'.repeat(1e6) }, { type: 'image' }, null] };
  const result = weigh({ kind: 'result', result: long });
  assert.ok(result.kind === 'failed' && result.failure.message.length === 2_000);
  assert.ok(result.kind === 'failed' && (result.failure.cause?.length ?? 0) <= 16_000);
});

test('what has not the form of a result says how it is told without its words', () => {
  const said = { code: -32_000, message: 'boom SECRET', data: { email: 'SECRET' } };
  const answers: readonly WireAnswer[] = [
    { kind: 'error', ...said },
    { ...refusedAs(400), said } as WireAnswer,
    { ...refusedAs(500), cause: 'SECRET' } as WireAnswer,
  ];
  for (const answer of answers) {
    const result = weigh(answer);
    assert.ok(result.kind === 'failed' && result.failure.given?.withoutWords !== undefined);
    const { given } = result.failure;
    assert.match(JSON.stringify(given.tell(given.output)), /SECRET/);
    assert.doesNotMatch(JSON.stringify(given.tell(given.withoutWords as never)), /SECRET/);
  }
});
