import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, aPolicyFact } from '../../../test/support/gate-facts.ts';
import type { WrittenEgress } from '../policy/policy.ts';
import { decide } from '../call/decide.ts';
import { egress, egressHosts } from './egress.ts';
import type { Facts, HostAddresses, PolicyFact } from './facts.ts';

const ref = 'recourse.yaml:8';
const publicAddress = '93.184.215.14';

interface Given {
  readonly host?: string | null;
  readonly port?: number;
  readonly egress?: Partial<WrittenEgress>;
  readonly mode?: PolicyFact['mode'];
  readonly addresses?: readonly HostAddresses[];
}

function given({ host = 'api.test', port = 443, mode = 'enforce', ...more }: Given): Facts {
  const tool = aTool({ name: 'pay', host, ...(host === null ? {} : { port }) });
  const written = more.egress === undefined ? {} : { egress: { allow: [], urls: {}, ref, ...more.egress } };
  return facts({
    catalogue: new Map([['pay', tool]]),
    policy: aPolicyFact([['permit', 'pay']], written, mode),
    ...(more.addresses === undefined ? {} : { addresses: more.addresses }),
  });
}

const at = (host: string, ...addresses: readonly string[]): HostAddresses => ({ host, addresses });
const listed = { allow: ['api.test'] };
const urls = { allow: ['web.test'], urls: { pay: ['args.url'] } };
const denied = 'refuse EGRESS_DENIED';

const cases: readonly (readonly [string, Given, string, unknown?])[] = [
  ['passes a tool that has no host', { host: null, egress: listed }, 'pass'],
  ['asks for the addresses of a host', { egress: listed }, 'need addresses'],
  ['asks for them without a list too: private addresses stay refused', {}, 'need addresses'],
  [
    'passes an allowed name with a public address',
    { egress: listed, addresses: [at('api.test', publicAddress)] },
    'pass',
  ],
  ['refuses a name that is not listed, without asking for its address', { host: 'evil.test', egress: listed }, denied],
  ['refuses every name where the list is empty', { egress: { allow: [] } }, denied],
  [
    'refuses an allowed name with a private address',
    { egress: listed, addresses: [at('api.test', '10.0.0.1')] },
    denied,
  ],
  [
    'refuses a name of which one address is private',
    { egress: listed, addresses: [at('api.test', publicAddress, '::1')] },
    denied,
  ],
  [
    'passes a private address that is named beside its name',
    { egress: { allow: ['api.test', '10.0.0.0/8'] }, addresses: [at('api.test', '10.0.0.1')] },
    'pass',
  ],
  ['refuses a private address without a list', { addresses: [at('api.test', '10.0.0.1')] }, denied],
  ['passes an address that the operator wrote as the URL', { host: '127.0.0.1', port: 9_000 }, 'pass'],
  ['refuses that too where the list does not have it', { host: '127.0.0.1', egress: listed }, denied],
  [
    'passes a host that cannot be resolved: the connection says so better',
    { egress: listed, addresses: [at('api.test')] },
    'pass',
  ],
  [
    'passes a URL in the arguments whose host is allowed',
    { host: null, egress: urls, addresses: [at('web.test', publicAddress)] },
    'pass',
    { url: 'https://web.test/x' },
  ],
  [
    'refuses a URL in the arguments whose host is not',
    { host: null, egress: urls },
    denied,
    { url: 'https://evil.test/x' },
  ],
  ['refuses what is no URL there', { host: null, egress: urls }, denied, { url: 'web.test' }],
  [
    'refuses a URL whose host cannot be resolved: nobody looks again',
    { host: null, egress: urls, addresses: [at('web.test')] },
    denied,
    { url: 'https://web.test/' },
  ],
  [
    'does not look at arguments that no path names',
    { host: null, egress: urls },
    'pass',
    { other: 'https://evil.test' },
  ],
];

for (const [behaviour, facts, expected, args = {}] of cases)
  test(behaviour, () => assert.equal(answerOf(egress, { tool: 'pay', args: args as never }, given(facts)), expected));

test('audit mode softens a name, and never a private address', () => {
  const request = aRequest({ tool: 'pay' });
  const evil = { host: 'evil.test', egress: listed, mode: 'audit' } as const;
  const first = egress.check(request, given(evil), []);
  assert.deepEqual(first, { kind: 'need', fact: 'addresses' });
  const soft = decide(request, given({ ...evil, addresses: [at('evil.test', publicAddress)] }), [egress]);
  assert.deepEqual(soft.kind === 'run' && soft.softened.map(({ refusal }) => refusal.code), ['EGRESS_DENIED']);
  const hard = decide(request, given({ ...evil, addresses: [at('evil.test', '127.0.0.1')] }), [egress]);
  assert.equal(hard.kind, 'refuse');
  const byList = decide(request, given({ egress: listed, mode: 'audit', addresses: [at('api.test', '10.0.0.1')] }), [
    egress,
  ]);
  assert.equal(byList.kind, 'refuse');
});

test('audit mode does not soften what cannot be read either: it may be a private address', () => {
  for (const url of [
    'http://user@169.254.169.254/',
    'http:\\\\10.0.0.1',
    'gopher://127.0.0.1:6379/_x',
    { url: '10.0.0.1' },
  ]) {
    const request = aRequest({ tool: 'pay', args: { url } });
    const decision = decide(request, given({ host: null, egress: urls, mode: 'audit' }), [egress]);
    assert.equal(decision.kind, 'refuse', JSON.stringify(url));
  }
});

test('without a policy nothing is asked here: the connection is checked all the same', () => {
  const catalogue = new Map([['pay', aTool({ name: 'pay', host: 'a.test', port: 80 })]]);
  assert.equal(answerOf(egress, { tool: 'pay' }, facts({ catalogue })), 'pass');
});

test('it asks for each name once, and for no address', () => {
  const args = { url: ['https://web.test', 'https://web.test:8443', 'https://10.0.0.1'] };
  const all = given({ host: 'api.test', egress: { ...urls, allow: ['web.test', 'api.test'] } });
  assert.deepEqual(egressHosts(aRequest({ tool: 'pay', args }), all), ['api.test', 'web.test']);
});

test('an explanation shows hosts, addresses and the list', () =>
  assert.deepEqual(
    egress.saw(aRequest({ tool: 'pay' }), given({ egress: listed, addresses: [at('api.test', '10.0.0.1')] })),
    {
      hosts: ['api.test:443'],
      addresses: [{ host: 'api.test', addresses: ['10.0.0.1'] }],
      allowed: ['api.test'],
    },
  ));
