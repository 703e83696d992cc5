/** What `explain` shows of each gate, and that a gate which was not asked shows nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApproval } from '../../../test/conformance/approval-fixtures.ts';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { anApprovalFact, aPolicyFact, aStep, inShop } from '../../../test/support/gate-facts.ts';
import type { CallId, Request, SessionId } from '../call/call.ts';
import { baseLadder, type Ladder, workflowLadder } from '../call/decide.ts';
import { explainLadder } from './explain.ts';
import type { Facts } from './facts.ts';
import { gateNames } from './gate.ts';

const explained = (request: Partial<Request>, given: Facts, ladder: Ladder = baseLadder) => {
  const found = explainLadder(aRequest(request), given, ladder);
  assert.ok(found.kind === 'explained', JSON.stringify(found));
  return found;
};

/** `gate: answer {saw}`, without the gates that are absent. */
const told = (request: Partial<Request>, given: Facts, ladder: Ladder = baseLadder) =>
  explained(request, given, ladder)
    .rungs.filter(({ answer }) => answer !== 'absent')
    .map(({ gate, answer, saw }) => `${gate}: ${answer} ${JSON.stringify(saw)}`);

const passed = {
  ready: 'ready: passed {"ready":true,"in_flight":0,"at_most":10}',
  session: 'session: passed {"state":"open","seq":0}',
  known: 'known: passed {"tool":"pay","known":true}',
  input: 'input: passed {"judged_by":"anything","validator":null}',
  fence: 'fence: passed {"in_doubt":[]}',
};

const seenTool = '"tool":"pay","effect":"plain","reach":"destructive"';
const deferring = aPolicyFact([['defer', 'pay', { reason: 'ask' }]], { models: { allow: ['opus'], ref: 'x:1' } });
const pending = anApproval({ id: 'apr_1' as never, rules: 'r', openedAtMs: 0, expiresAtMs: 9_000 });
const checked = aTool({ input: { kind: 'validator' } });
const fence = { operation: 'pay', callId: 'call_9' as CallId, session: null, fingerprint: '', inDoubt: true };

const cases: readonly (readonly [string, Partial<Request>, Facts, Ladder, readonly string[]])[] = [
  [
    'a gateway with tools only shows six gates',
    {},
    facts(),
    baseLadder,
    [passed.ready, passed.session, passed.known, passed.input, passed.fence, 'evidence: passed {}'],
  ],
  [
    'the gates after a refusal were not asked, and saw nothing',
    { tool: 'payy' },
    facts({ inFlight: { now: 3, max: 10 } }),
    baseLadder,
    [
      'ready: passed {"ready":true,"in_flight":3,"at_most":10}',
      passed.session,
      'known: refused {"tool":"payy","known":false}',
      'input: not_asked {}',
      'fence: not_asked {}',
      'evidence: not_asked {}',
    ],
  ],
  [
    'a session that is not known is shown as such',
    { session: 'ses_x' as SessionId },
    facts({ session: { found: false, why: 'unknown' } }),
    baseLadder,
    [
      passed.ready,
      'session: refused {"session":"unknown"}',
      'known: not_asked {}',
      'input: not_asked {}',
      'fence: not_asked {}',
      'evidence: not_asked {}',
    ],
  ],
  [
    'the input gate shows what the validator said, also where it is asked for evidence',
    { evidence: ['call_1'] },
    facts({
      catalogue: aCatalogue(checked),
      arguments: { ok: true, args: {} },
      evidence: { ok: false, errors: [{ path: '/evidence_refs/0', expected: 'a read', got: null }] },
    }),
    baseLadder,
    [
      passed.ready,
      passed.session,
      passed.known,
      'input: refused {"judged_by":"validator","validator":true}',
      'fence: not_asked {}',
      'evidence: not_asked {}',
    ],
  ],
  [
    'policy, model and approval show who asks, which models may, and the approval that is open',
    { model: 'opus' },
    facts({ policy: deferring, approval: anApprovalFact({ found: pending }) }),
    baseLadder,
    [
      passed.ready,
      passed.session,
      passed.known,
      passed.input,
      passed.fence,
      `policy: passed {"agent":"local","agent_known":true,${seenTool},"mode":"enforce"}`,
      'model: passed {"model":"opus","allowed":["opus"]}',
      'egress: passed {"hosts":[],"addresses":[],"allowed":null}',
      'rate: passed {}',
      'budget: passed {}',
      'approval: held {"approval":"apr_1","state":"pending","approvals":0}',
      'evidence: not_asked {}',
    ],
  ],
  [
    'audit mode softens policy, model and approval, and the later gates are asked',
    { evidence: ['call_1'] },
    facts({
      policy: { ...deferring, mode: 'audit' },
      evidence: { ok: true, hash: 'h', refs: ['call_1'], own: [], contents: ['a'], isFresh: false },
      evidenceNow: { kind: 'read', hash: 'h', changes: [] },
    }),
    baseLadder,
    [
      passed.ready,
      passed.session,
      passed.known,
      passed.input,
      passed.fence,
      `policy: passed {"agent":"local","agent_known":true,${seenTool},"mode":"audit"}`,
      'model: softened {"model":null,"allowed":["opus"]}',
      'egress: passed {"hosts":[],"addresses":[],"allowed":null}',
      'rate: passed {}',
      'budget: passed {}',
      'approval: softened {}',
      'evidence: passed {"reads":["call_1"]}',
    ],
  ],
  [
    'an unknown agent is refused before its input is looked at',
    {},
    facts({ policy: { mode: 'enforce', agent: null, ref: 'recourse.yaml:4' } }),
    baseLadder,
    [
      passed.ready,
      passed.session,
      passed.known,
      'input: not_asked {}',
      'fence: not_asked {}',
      `policy: refused {"agent":"local","agent_known":false,${seenTool},"mode":"enforce"}`,
      'model: not_asked {}',
      'egress: not_asked {}',
      'rate: not_asked {}',
      'budget: not_asked {}',
      'approval: not_asked {}',
      'evidence: not_asked {}',
    ],
  ],
  [
    'in a workflow the state, the next actions and what is in doubt are shown',
    { args: { amount: 5 } },
    inShop(aStep({ fences: [fence] })),
    workflowLadder,
    [
      passed.ready,
      passed.session,
      passed.known,
      'reachable: passed {"state":"open","next":["look"]}',
      passed.input,
      'fence: refused {"in_doubt":["pay"]}',
      'evidence: not_asked {}',
    ],
  ],
];

for (const [behaviour, request, given, ladder, expected] of cases)
  test(behaviour, () => assert.deepEqual(told(request, given, ladder), expected));

test('egress, rate, budget and credential stand on no ladder: they are absent and show nothing', () => {
  const { rungs } = explained({ evidence: ['call_1'] }, { ...facts(), evidence: { ok: false, errors: [] } });
  assert.deepEqual(
    rungs.map(({ gate }) => gate),
    gateNames,
  );
  for (const rung of rungs.filter(({ gate }) => ['egress', 'rate', 'budget', 'credential'].includes(gate)))
    assert.deepEqual(rung, { gate: rung.gate, answer: 'absent', saw: {}, why: null, change: null });
});

test('a gate that lacks a fact asks for it, as it does for a decision', () => {
  const { session: _session, ...bare } = facts();
  assert.deepEqual(explainLadder(aRequest(), bare, baseLadder), { kind: 'need', fact: 'session' });
});

test('the rule that decided is named, and what would have to change', () => {
  const denied = explained({}, facts({ policy: aPolicyFact([['deny', 'pay', { when: 'true' }]]) }));
  const rung = denied.rungs.find(({ gate }) => gate === 'policy');
  assert.equal(rung?.why, 'denied: pay blocked by policy');
  assert.match(rung?.change ?? '', /^change what stands at recourse\.yaml:10/);
  assert.deepEqual(denied.rules, [{ rule: 0, ref: 'recourse.yaml:10', result: 'matched', problem: null }]);
  const permitted = explained({}, facts({ policy: aPolicyFact([['permit', 'pay']]) }));
  assert.equal(permitted.rungs.find(({ gate }) => gate === 'policy')?.why, 'permitted by recourse.yaml:10');
});
