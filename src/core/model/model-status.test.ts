/** What status tells of a provider. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aProvider } from '../../../test/support/models/a-provider.ts';
import { modelStatusOf, nothingUsed } from './model-status.ts';

const provider = aProvider({ declared: { models: [{ name: 'a', streaming: true }], aliases: { fast: 'a' } } });
const nothing = { streaming: null, tools: null, context_tokens: null, max_output_tokens: null };

test('a provider that nobody asked has what the file says', () =>
  assert.deepEqual(modelStatusOf(provider, null, null, nothingUsed), {
    name: 'echo',
    kind: 'echo',
    state: 'not_asked',
    problem: null,
    models: [{ name: 'a', declared: { ...nothing, streaming: true }, said: null }],
    aliases: { fast: 'a' },
    used: nothingUsed,
  }));

test('what it says of itself stands beside that, also of models that the file does not name', () => {
  const said = new Map([
    ['a', { name: 'a', tools: false }],
    ['b', { name: 'b', contextTokens: 5 }],
  ]);
  const { state, models } = modelStatusOf(provider, said, null, nothingUsed);
  assert.deepEqual(
    [state, models],
    [
      'reachable',
      [
        { name: 'a', declared: { ...nothing, streaming: true }, said: { ...nothing, tools: false } },
        { name: 'b', declared: null, said: { ...nothing, context_tokens: 5 } },
      ],
    ],
  );
});

test('one that does not answer says why', () => {
  const { state, problem } = modelStatusOf(provider, null, 'connection refused', nothingUsed);
  assert.deepEqual([state, problem], ['not_reachable', 'connection refused']);
});
