/** Facts that single gates look at: a step of a small workflow, a policy, an approval. */
import assert from 'node:assert/strict';
import { type AnyStateMachine, createMachine } from 'xstate';
import { defaultTerms } from '../../src/core/approval/approval.ts';
import type { ApprovalFact, Facts, PolicyFact } from '../../src/core/gates/facts.ts';
import type { Request, SessionId } from '../../src/core/call/call.ts';
import type { Gate } from '../../src/core/gates/gate.ts';
import { compileMachine } from '../../src/core/workflow/compile-machine.ts';
import type { StepFact } from '../../src/core/workflow/step.ts';
import type { ActionEntry, Workflow } from '../../src/core/workflow/workflow.ts';
import { anAgent, aPolicy, type Said } from './a-policy.ts';
import { aRequest, aTool, facts } from './builders.ts';

/** What the agent `local` may do, as facts. */
export function aPolicyFact(
  said: readonly Said[],
  more: Parameters<typeof anAgent>[2] = {},
  mode: PolicyFact['mode'] = 'enforce',
): PolicyFact {
  return { mode, ref: 'recourse.yaml:4', agent: aPolicy([anAgent('local', said, more)]).agents.get('local') ?? null };
}

const anAction = (name: string): ActionEntry => ({
  ...aTool({ name }),
  boundTool: null,
  overlap: false,
  operationOf: () => name,
  operation: name,
  operations: name,
});

const shop = {
  context: {},
  initial: 'open',
  states: {
    open: {
      on: {
        pay: {
          target: 'paid',
          guard: function enough({ event }: { event: { inputs: { amount?: number } } }) {
            return (event.inputs.amount ?? 0) >= 5;
          },
        },
        look: 'open',
        crash: {
          target: 'open',
          guard: function failing() {
            throw new Error('no');
          },
        },
      },
    },
    paid: { on: { ship: 'open' } },
  },
};

const names = ['pay', 'look', 'ship', 'crash'];

/**
 * A shop: `pay` needs an amount of 5, `look` is always possible, `ship` follows `pay`, and the guard of `crash` throws.
 */
export function aStep(change: Partial<StepFact> = {}): StepFact {
  const machine = createMachine(shop as never) as AnyStateMachine;
  const compiled = compileMachine(machine, { name: 'shop', actions: new Map(names.map((name) => [name, null])) });
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.problems.join('\n'));
  const started = compiled.machine.start(0);
  assert.ok(started.kind === 'moved');
  const actions = new Map(names.map((name) => [name, anAction(name)]));
  return {
    workflow: { name: 'shop', machine: compiled.machine, actions, catalogue: actions } as unknown as Workflow,
    snapshot: started.snapshot,
    seq: 0,
    isOpen: true,
    digest: '',
    fences: [],
    running: [],
    takenBy: null,
    isListed: () => true,
    drift: null,
    ...change,
  };
}

/** Facts of a session that stands in the shop. */
export function inShop(step: StepFact = aStep(), more: Partial<Facts> = {}): Facts {
  const session = { found: true, id: 'ses_1' as SessionId, state: 'open', reason: null, seq: 0, step } as const;
  return facts({ catalogue: step.workflow.catalogue, session, ...more });
}

/** What is known of an approval that nobody has asked for yet. */
export const anApprovalFact = (change: Partial<ApprovalFact> = {}): ApprovalFact => ({
  subject: 's',
  rules: 'r',
  evidence: null,
  found: null,
  ran: null,
  freshId: 'apr_new' as ApprovalFact['freshId'],
  open: { now: 0, max: 10 },
  ...change,
});

export const anObligation = { ref: 'recourse.yaml:10', reason: null, terms: defaultTerms } as const;

/** The answer in short: `pass`, `need session`, `hold POLICY_DEFER`, `refuse Busy`. */
export function answerOf(
  gate: Gate,
  request: Partial<Request> = {},
  given: Facts = facts(),
  obligations: Parameters<Gate['check']>[2] = [],
): string {
  const answer = gate.check(aRequest(request), given, obligations);
  switch (answer.kind) {
    case 'pass':
      return 'pass';
    case 'need':
      return `need ${answer.fact}`;
    case 'refuse':
    case 'hold':
      return `${answer.kind} ${answer.refusal.code}`;
    default:
      return answer satisfies never;
  }
}
