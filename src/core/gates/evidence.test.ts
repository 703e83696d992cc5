import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, anObligation } from '../../../test/support/gate-facts.ts';
import type { Obligation } from '../approval/approval.ts';
import { evidence } from './evidence.ts';
import type { Facts } from './facts.ts';

const named = { evidence: ['call_1'] };
const found = { ok: true, hash: 'h', refs: ['call_1'], own: [], contents: ['a'], isFresh: false } as const;
const change = { read: 'call_1', tool: 'stock', was: 'a', is: 'b', says: { left: 3 } } as const;
const read = (hash: string) => ({ kind: 'read', hash, changes: [change] }) as const;
const known = (more: Partial<Facts> = {}) => facts({ evidence: found, ...more });
const harmless = { catalogue: aCatalogue(aTool({ reach: 'network' })) };
const none: readonly Obligation[] = [];
const one = [anObligation];

const cases: readonly (readonly [string, object, Facts, readonly Obligation[], string])[] = [
  ['passes a call without evidence', {}, facts(), none, 'pass'],
  ['passes a call that can be undone and waits for nobody', named, known(harmless), none, 'pass'],
  ['reads the evidence of a deferred call again', named, known(harmless), one, 'need evidenceNow'],
  ['reads the evidence of a destructive call again', named, known(), none, 'need evidenceNow'],
  ['passes what was read for this very decision', named, known({ evidence: { ...found, isFresh: true } }), one, 'pass'],
  ['reads what the gateway read before again, though the caller names nothing', {}, known(), one, 'need evidenceNow'],
  ['passes if it still says the same', named, known({ evidenceNow: read('h') }), none, 'pass'],
  ['refuses if it has changed', named, known({ evidenceNow: read('x') }), none, 'refuse StaleEvidence'],
  [
    'refuses if it cannot be read',
    named,
    known({ evidenceNow: { kind: 'unreadable', problem: 'gone' } }),
    none,
    'refuse StaleEvidence',
  ],
];

for (const [behaviour, request, given, obligations, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(evidence, request, given, obligations), expected));
