/** What is written about egress, compiled with its policy: problems, hashes, differences, resends. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { anAgent, aPolicy } from '../../../test/support/a-policy.ts';
import { aPolicyFact } from '../../../test/support/gate-facts.ts';
import { recheck } from '../call/recheck.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import { diffPolicies } from '../policy/diff/diff-policies.ts';
import type { WrittenEgress } from '../policy/policy.ts';

const egress = (allow: readonly string[], urls: WrittenEgress['urls'] = {}): WrittenEgress => ({
  allow,
  urls,
  ref: 'recourse.yaml:8',
});
const policyWith = (written?: WrittenEgress) =>
  aPolicy([anAgent('bot', [['permit', '**']], written === undefined ? {} : { egress: written })]);

test('what is wrong is told with its place', () => {
  const written = egress(['a.test', 'http://x'], { 'a/**b': ['args.url'], 'a/b': ['url'] });
  const compiled = compilePolicy(
    { mode: 'enforce', ref: 'recourse.yaml:1', agents: [anAgent('bot', [], { egress: written })] },
    null,
  );
  assert.ok(!compiled.ok);
  assert.deepEqual(
    compiled.problems.map(({ field, index, message }) => [field, index, message]),
    [
      ['egress', 1, "'http://x' is no range of addresses"],
      ['egress', undefined, "urls: 'a/**b': ** stands beside something else"],
      ['egress', undefined, "urls: 'url' is no path into arguments"],
    ],
  );
});

describe('the hash of a policy', () => {
  const hashOf = (written?: WrittenEgress) => policyWith(written).agents.get('bot')?.canonicalFor('a/b');

  test('depends on egress, so an approval does too; not on its order or its line', () => {
    const base = hashOf(egress(['a.test', 'b.test'], { 'a/*': ['args.url'] }));
    assert.equal(hashOf({ ...egress(['b.test', 'a.test'], { 'a/*': ['args.url'] }), ref: 'x:99' }), base);
    for (const other of [undefined, egress(['a.test'], { 'a/*': ['args.url'] }), egress(['a.test', 'b.test'])])
      assert.notEqual(hashOf(other), base);
  });
});

/** Before, after, and what `apply` says: ! weaker, ^ stronger. */
const changes: readonly (readonly [string, WrittenEgress | undefined, WrittenEgress | undefined, readonly string[]])[] =
  [
    ['one more host', egress(['a.test']), egress(['a.test', 'b.test']), ['! egress: allow: a.test → a.test, b.test']],
    ['one host less', egress(['a.test', 'b.test']), egress(['a.test']), ['^ egress: allow: a.test, b.test → a.test']],
    ['a list where there was none', undefined, egress(['a.test']), ['^ egress: allow: any → a.test']],
    ['no list any more', egress(['a.test']), undefined, ['! egress: allow: a.test → any']],
    ['a path less', egress([], { 'a/b': ['args.url'] }), egress([]), ['! egress: urls: {"a/b":["args.url"]} → {}']],
    ['the same in another order', egress(['a.test', 'b.test']), egress(['b.test', 'a.test']), []],
  ];

for (const [what, before, after, expected] of changes)
  test(`a difference is told with its direction: ${what}`, () => {
    const told = diffPolicies(policyWith(before), policyWith(after)).flatMap(({ details }) =>
      details
        .filter(({ says }) => !/urls: none/.test(says) && !/→ none/.test(says))
        .map(
          ({ says, direction }) =>
            `${{ weaker: '!', stronger: '^', other: '~', maybe_weaker: '?' }[direction]} ${says}`,
        ),
    );
    assert.deepEqual(told, expected);
  });

describe('before a call is sent again', () => {
  const catalogue = new Map([['pay', aTool({ name: 'pay', host: 'a.test', port: 443 })]]);
  const ask = (allow: readonly string[], addresses?: readonly string[]) =>
    recheck(
      aRequest({ tool: 'pay' }),
      facts({
        catalogue,
        policy: aPolicyFact([['permit', 'pay']], { egress: egress(allow) }),
        ...(addresses === undefined ? {} : { addresses: [{ host: 'a.test', addresses }] }),
      }),
      null,
    );

  test('its host is judged by the list of that moment, and by its addresses of that moment', () => {
    assert.equal(ask(['b.test']).kind, 'denied');
    assert.deepEqual(ask(['a.test']), { kind: 'need', fact: 'addresses' });
    assert.equal(ask(['a.test'], ['10.0.0.1']).kind, 'denied');
    assert.equal(ask(['a.test'], ['93.184.215.14']).kind, 'permitted');
  });
});
