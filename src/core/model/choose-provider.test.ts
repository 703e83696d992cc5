import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aProtocol, aProvider } from '../../../test/support/models/a-provider.ts';
import type { Catalogue, ToolEntry } from '../call/catalogue.ts';
import { chooseProvider, usableModels } from './choose-provider.ts';
import type { ModelOperation } from './protocol.ts';

const declared = (names: readonly string[], aliases: Readonly<Record<string, string>> = {}) => ({
  models: names.map((name) => ({ name })),
  aliases,
});
const asOther = { ...aProtocol, operations: { messages: aProtocol.operations['chat'] as ModelOperation } };
const providers = [
  aProvider({ name: 'any' }),
  aProvider({ name: 'mine', declared: declared(['small', 'a/b'], { fast: 'small' }) }),
  aProvider({ name: 'yours', declared: declared(['large', 'small']) }),
  aProvider({ name: 'other', protocol: asOther, declared: declared(['large']) }),
];

for (const [model, tool, asked, operation] of [
  ['small', 'mine/chat', 'small', 'chat'],
  ['fast', 'mine/chat', 'fast', 'chat'],
  ['a/b', 'mine/chat', 'a/b', 'chat'],
  ['large', 'yours/chat', 'large', 'chat'],
  ['yours/small', 'yours/chat', 'small', 'chat'],
  ['yours/unknown', 'yours/chat', 'unknown', 'chat'],
  ['large', 'other/messages', 'large', 'messages'],
  ['unknown', 'any/chat', 'unknown', 'chat'],
  ['nobody/small', 'any/chat', 'nobody/small', 'chat'],
  ['mine/small', 'other/messages', 'mine/small', 'messages'],
  [null, 'any/chat', undefined, 'chat'],
] as const)
  test(`a ${operation} of ${model ?? 'no model'} goes to ${tool}`, () => {
    const chosen = chooseProvider(providers, operation, model === null ? {} : { model });
    assert.equal(chosen?.tool, tool);
    assert.equal(chosen.args['model'], asked);
  });

test('an operation that no provider has is nobody’s, and so is one that is only inherited', () => {
  assert.equal(chooseProvider(providers, 'responses', { model: 'small' }), null);
  assert.equal(chooseProvider(providers, 'toString', { model: 'small' }), null);
  assert.equal(chooseProvider([], 'chat', {}), null);
});

test('models are named once, a second of the same name by its provider, and only where the agent may call and ask', () => {
  const listed: Catalogue = new Map(['mine/chat', 'yours/chat'].map((name) => [name, {} as ToolEntry]));
  const said = new Map([['mine', [{ name: 'undeclared' }]]]);
  const ids = (permits: (model: string) => boolean) =>
    usableModels(providers, said, listed, permits).map(({ id, provider }) => [id, provider]);
  const all = [
    ['small', 'mine'],
    ['a/b', 'mine'],
    ['fast', 'mine'],
    ['large', 'yours'],
    ['yours/small', 'yours'],
  ];
  assert.deepEqual(
    ids(() => true),
    all,
  );
  // An alias is what it stands for.
  assert.deepEqual(
    ids((model) => model === 'small'),
    [all[0], all[2], all[4]],
  );
  // Where none is declared, what the provider says.
  const any = usableModels([aProvider({ name: 'mine' })], said, listed, () => true);
  assert.deepEqual(any, [{ name: 'undeclared', id: 'undeclared', provider: 'mine' }]);
});
