import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { findKinds, withNeeds } from './find-kinds.ts';
import { readExtension } from './read-extension.ts';

const create = () => ({});
const good = { name: 'soap', contract: 1 };

test('an extension is known by what it declares, and none of it is run', () => {
  const never = () => assert.fail('it was run');
  const read = readExtension(
    {
      ...good,
      needs: ['base'],
      stop_timeout_seconds: 0.5,
      upstreams: { soap: { tools: never, create: never } },
      credentials: { ring: { create: never } },
      validators: { iban: never },
      costs: { cents: never },
      start: never,
      stop: never,
    },
    'soap',
  );
  assert.ok(read.ok);
  const { adds, ...rest } = read.shape;
  assert.deepEqual(rest, { name: 'soap', contract: 1, needs: ['base'], startTimeoutMs: 10_000, stopTimeoutMs: 500 });
  assert.deepEqual(
    [adds.upstreams, adds.credentials, adds.validators, adds.costs, adds.notifiers, adds.models],
    [['soap'], ['ring'], ['iban'], ['cents'], [], []],
  );
});

describe('what is no extension of this version is refused by name', () => {
  const throws = Object.defineProperty({}, 'name', {
    get() {
      throw new Error('no');
    },
  });
  const cases: readonly (readonly [string, unknown, string, RegExp])[] = [
    ['nothing', undefined, 'ShapeInvalid', /is no extension/],
    ['a function', create, 'ShapeInvalid', /is no extension/],
    ['a list', [], 'ShapeInvalid', /is no extension/],
    ['a field that throws', throws, 'ShapeInvalid', /a field of it throws/],
    ['no name', { contract: 1 }, 'ShapeInvalid', /has no usable name/],
    ['a name with a space', { ...good, name: 'so ap' }, 'ShapeInvalid', /has no usable name/],
    ['no version', { name: 'soap' }, 'ShapeInvalid', /does not say for which contract/],
    ['a newer version', { ...good, contract: 2 }, 'ContractVersionMismatch', /for version 2 .* gateway has version 1/],
    ['an older version', { ...good, contract: 0 }, 'ContractVersionMismatch', /for version 0 .* gateway has version 1/],
    ['a key that means nothing', { ...good, upstream: {} }, 'ShapeInvalid', /key 'upstream' that means nothing/],
    ['a start that is no function', { ...good, start: true }, 'ShapeInvalid', /start that is no function/],
    ['a time that is none', { ...good, start_timeout_seconds: 0 }, 'ShapeInvalid', /no usable time/],
    ['a time without end', { ...good, stop_timeout_seconds: Infinity }, 'ShapeInvalid', /no usable time/],
    ['needs that are no names', { ...good, needs: [7] }, 'ShapeInvalid', /no list of names/],
    ['kinds that are a list', { ...good, upstreams: [] }, 'ShapeInvalid', /upstreams that are no object/],
    ['a kind without create', { ...good, credentials: { x: {} } }, 'ShapeInvalid', /'x' .* without a function create/],
    ['an upstream without tools', { ...good, upstreams: { x: { create } } }, 'ShapeInvalid', /'x' .* without tools/],
    ['a validator that is no function', { ...good, validators: { x: {} } }, 'ShapeInvalid', /without a function/],
    ['a model without a protocol', { ...good, models: { x: {} } }, 'ShapeInvalid', /without a protocol and a url/],
    ['a kind with an odd name', { ...good, costs: { 'a b': create } }, 'ShapeInvalid', /under the name 'a b'/],
  ];
  for (const [what, exported, code, message] of cases)
    test(what, () => {
      const read = readExtension(exported, 'soap');
      assert.ok(!read.ok);
      assert.deepEqual([read.problems[0]?.code, read.problems.length], [code, 1]);
      assert.match(read.problems[0]?.message ?? '', message);
      assert.match(read.problems[0]?.message ?? '', /^the extension '/);
    });
});

test('whatever a module exports, it is read or refused', () => {
  const keys = fc.constantFrom('name', 'contract', 'needs', 'upstreams', 'costs', 'start', 'settings', 'other');
  const values = fc.oneof(
    fc.anything({ withNullPrototype: true }),
    fc.constant(1),
    fc.constant('soap'),
    fc.constant(create),
  );
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.dictionary(keys, values)), (exported) => {
      const read = readExtension(exported, 'soap');
      assert.ok(read.ok || read.problems.every(({ message, fix }) => message !== '' && fix !== ''));
    }),
    { seed: 20, numRuns: timesDrawn(2_000, 300) },
  );
});

const shape = (name: string, upstreams: readonly string[], needs: readonly string[] = []) => {
  const adds = { upstreams, models: [], credentials: [], notifiers: [], validators: [], costs: [] };
  return { name, needs, adds };
};

test('a kind has one owner: two that add it are a problem', () => {
  const { kinds, problems } = findKinds([shape('one', ['soap', 'corba']), shape('other', ['soap'])]);
  assert.deepEqual([kinds.ownerOf('upstreams', 'soap'), kinds.ownerOf('upstreams', 'rest')], ['one', null]);
  assert.equal(kinds.ownerOf('costs', 'soap'), null);
  assert.deepEqual(
    problems.map(({ message }) => message),
    ["the extensions 'one' and 'other' both add 'soap' to upstreams"],
  );
  assert.equal(kinds.suggest('upstreams', 'soup'), 'did you mean soap?');
});

test('what is used needs all that is needed for it', () => {
  const all = [shape('a', [], ['b']), shape('b', [], ['c']), shape('c', []), shape('d', [], ['a'])];
  assert.deepEqual([...withNeeds(new Set(['a']), all)], ['a', 'b', 'c']);
  assert.deepEqual([...withNeeds(new Set(), all)], []);
});
