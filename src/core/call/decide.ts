/**
 * Decides whether a call may run. The first gate that does not pass determines the answer, so the order of the ladder
 * is the precedence of reasons. Pure and synchronous: if a gate needs a fact, the shell fetches it and asks again from
 * the top.
 * Path of a call: 3/7. Next: core/call/lifecycle.ts.
 */
import type { Obligation } from '../approval/approval.ts';
import type { Request } from './call.ts';
import type { ToolEntry } from './catalogue.ts';
import { argumentsIn, type FactName, type Facts } from '../gates/facts.ts';
import {
  type Gate,
  type GateAnswer,
  type GateName,
  gateNames,
  type HeldFor,
  type MetBy,
  type Take,
} from '../gates/gate.ts';
import { approval } from '../gates/approval.ts';
import { budget } from '../gates/budget.ts';
import { egress } from '../gates/egress.ts';
import { credential } from '../gates/credential.ts';
import { evidence } from '../gates/evidence.ts';
import { fence } from '../gates/fence.ts';
import { input, namedEvidence } from '../gates/input.ts';
import { known } from '../gates/known.ts';
import { model } from '../gates/model.ts';
import { neverPermitted, policy } from '../gates/policy.ts';
import { reachable, reachableWithInputs } from '../gates/reachable.ts';
import { rate } from '../gates/rate.ts';
import { ready } from '../gates/ready.ts';
import { session } from '../gates/session.ts';
import type { Json } from '../values/json.ts';
import type { SpendingAsk } from '../budget/judge-budgets.ts';
import type { Refusal } from './refusal.ts';
import type { Notice } from './reply.ts';
import { invariant } from '../values/unreachable.ts';

export type Decision =
  | {
      readonly kind: 'run';
      readonly tool: ToolEntry;
      readonly args: Json;
      /** The `file:line` that permits it; null without policy. */
      readonly rule: string | null;
      /** What audit mode let pass. */
      readonly softened: readonly Softened[];
      /** How its obligations are met; null without any. */
      readonly approval: MetBy | null;
      /** What its intent takes, and whom it asks. */
      readonly takes: readonly Take[];
      readonly asks: readonly SpendingAsk[];
      /** What its reply says beside the outcome. */
      readonly notices: readonly Notice[];
    }
  | {
      readonly kind: 'refuse';
      readonly gate: GateName;
      readonly refusal: Refusal;
      readonly asks?: readonly SpendingAsk[];
    }
  | {
      readonly kind: 'hold';
      readonly gate: GateName;
      readonly refusal: Refusal;
      readonly approval: HeldFor | null;
      readonly obligations: readonly Obligation[];
    }
  | { readonly kind: 'need'; readonly gate: GateName; readonly fact: FactName };

export interface Softened {
  readonly gate: GateName;
  readonly refusal: Refusal;
}

export type Ladder = readonly Gate[];

/** The gates that audit mode softens: 7 to 12. */
const softGates: ReadonlySet<GateName> = new Set(['policy', 'model', 'egress', 'rate', 'budget', 'approval']);

export const isSoftened = (gate: GateName, answer: GateAnswer, { policy }: Facts): boolean =>
  policy?.mode === 'audit' && softGates.has(gate) && !('hard' in answer && answer.hard === true);

/**
 * The ladder of a gateway without workflows. Policy is asked twice: a tool that it could never permit is refused before
 * anything about the tool is revealed.
 */
export const baseLadder: Ladder = [
  ready,
  session,
  known,
  neverPermitted,
  input,
  namedEvidence,
  fence,
  policy,
  model,
  egress,
  rate,
  budget,
  approval,
  evidence,
];

/** With workflows. `reachable` is asked twice: guards that read inputs can be evaluated only after the input gate. */
export const workflowLadder: Ladder = [
  ready,
  session,
  known,
  neverPermitted,
  reachable,
  input,
  namedEvidence,
  reachableWithInputs,
  fence,
  policy,
  model,
  egress,
  rate,
  budget,
  approval,
  evidence,
];

/** Gate 14 is the last one of both. Where no credential is declared it is absent, and listed as absent. */
export const withCredential = (ladder: Ladder): Ladder => [...ladder, credential];

/** Every gate, and whether it is configured. */
export function describeLadder(
  ladder: Ladder,
  isGoverned: boolean,
): readonly { readonly gate: GateName; readonly configured: boolean }[] {
  const standing = new Set(standingGates(ladder, isGoverned));
  return gateNames.map((gate) => ({ gate, configured: standing.has(gate) }));
}

const standing = new WeakMap<
  Ladder,
  { readonly governed: readonly GateName[]; readonly others: readonly GateName[] }
>();

/** Unique names of the gates on a ladder. Without a policy the gates that enforce it are left out. */
export function standingGates(ladder: Ladder, isGoverned: boolean): readonly GateName[] {
  const known = standing.get(ladder) ?? namesOf(ladder);
  standing.set(ladder, known);
  return isGoverned ? known.governed : known.others;
}

function namesOf(ladder: Ladder) {
  const names = new Set(ladder.map(({ name }) => name));
  const governed = gateNames.filter((name) => names.has(name));
  return { governed, others: governed.filter((name) => !softGates.has(name)) };
}

const none: readonly Obligation[] = [];

export function decide(request: Request, facts: Facts, ladder: Ladder = baseLadder): Decision {
  let rule: string | null = null;
  let met: MetBy | null = null;
  let obligations = none;
  const softened: Softened[] = [];
  const passed: Passed[] = [];
  for (const gate of ladder) {
    const answer = gate.check(request, facts, obligations);
    if (answer.kind === 'pass') {
      rule ??= answer.rule ?? null;
      met ??= answer.approval ?? null;
      if (answer.obligation !== undefined) obligations = [...obligations, answer.obligation];
      passed.push(answer);
    } else if (answer.kind !== 'need' && isSoftened(gate.name, answer, facts)) {
      softened.push({ gate: gate.name, refusal: answer.refusal });
      // Nobody is asked for what audit mode lets pass.
      passed.push(answer.kind === 'refuse' ? { takes: answer.takes ?? [] } : {});
    } else if (answer.kind === 'hold') return { ...answer, gate: gate.name, obligations };
    else return answer.kind === 'need' ? { ...answer, gate: gate.name } : refused(answer, gate.name);
  }
  const tool = facts.catalogue.get(request.tool);
  invariant(tool !== undefined, 'the ladder let an undeclared tool pass');
  const args = argumentsIn(request, facts);
  return { kind: 'run', tool, args, rule, softened, approval: met, ...joined(passed) };
}

type Passed = Pick<Extract<GateAnswer, { kind: 'pass' }>, 'takes' | 'asks' | 'notices'>;

const joined = (passed: readonly Passed[]) => ({
  takes: passed.flatMap(({ takes = [] }) => takes),
  asks: passed.flatMap(({ asks = [] }) => asks),
  notices: passed.flatMap(({ notices = [] }) => notices),
});

function refused({ refusal, asks = [] }: Extract<GateAnswer, { kind: 'refuse' }>, gate: GateName): Decision {
  return { kind: 'refuse', gate, refusal, ...(asks.length === 0 ? {} : { asks }) };
}
