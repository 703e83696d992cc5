/**
 * What the commit of an intent records and takes. Each capability adds its part by a rider: the key, the tool as it was
 * declared, the policy, the turn of a workflow, the approval that is used up.
 */
import { type Approval, ended } from '../../core/approval/approval.ts';
import type { Call, CallId, Request } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { type Decision, type Softened, standingGates } from '../../core/call/decide.ts';
import type { Notice } from '../../core/call/reply.ts';
import { warnsFrom } from '../../core/budget/budget.ts';
import type { BudgetFact, Hold } from '../../core/budget/judge-budgets.ts';
import { credentialOnRecord } from '../../core/gates/credential.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { spendingParts } from '../approval/open-spending.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { operationOf, type StepFact } from '../../core/workflow/step.ts';
import { type CommitParts, mergeParts, noChange, note } from '../ending/transition.ts';
import { maskArgs } from '../mask.ts';
import { manifestOf, resumption } from '../session/position.ts';
import { recoveryOf, type Shell } from '../shell.ts';
import { playbookOnRecord } from '../ending/recovery-rider.ts';
import { type Undoing, undoingParts } from '../reversal/undoing.ts';
import { policyOnRecord } from '../upkeep/record-runtime.ts';

/** A call that may run, with everything that it was decided by. */
export interface Intent {
  readonly call: Call;
  readonly request: Request;
  readonly decision: Extract<Decision, { kind: 'run' }>;
  readonly facts: Facts;
  readonly step: StepFact | null;
  /** The policy by which it was decided; another one may be in force by now. */
  readonly policy: Policy | null;
  /** The approval that it uses up; null without one. */
  readonly uses: UsedApproval | null;
  /** The ticket for which it goes on; null for every other call. */
  readonly continues: Ticket | null;
  readonly undoing: Undoing;
}

export interface UsedApproval {
  readonly approval: Approval;
  /** Of several who ask at once, whose it has become. */
  readonly askedAs: CallId;
  readonly notices: readonly Notice[];
}

/** What one capability adds to the commit that makes an intent durable. */
export type IntentRider = (intent: Intent, shell: Shell) => CommitParts;

export const intentParts = (intent: Intent, shell: Shell): CommitParts =>
  mergeParts(riders.map((ride) => ride(intent, shell)));

const callRider: IntentRider = ({ call, request, facts }, shell) => {
  const argsText = facts.arguments?.ok ? canonicalText(facts.arguments.args) : request.argsText;
  const shown = maskArgs(argsText, call.agent, shell);
  const asSent =
    argsText === request.argsText
      ? []
      : [{ part: 'args_as_sent', text: maskArgs(request.argsText, call.agent, shell) }];
  const prepared = {
    tenant: call.tenant,
    agent: call.agent,
    tool: call.tool,
    turn: call.turn,
    effect_class: call.effectClass,
    deadline_ms: call.deadlineAtMs,
    facts: factsOf(facts, shell),
    policy: null,
    workflow: null,
  };
  return {
    body: { prepared },
    payloads: { prepared: [{ part: 'args', text: shown }, ...asSent] },
    expectSeq: request.expectedSeq,
    expectOpen: true,
  };
};

const keyRider: IntentRider = ({ call }, { limits }) => {
  if (call.key === null) return {};
  const { tenant, agent, key, fingerprint, id } = call;
  return { key: { tenant, agent, key, fingerprint, callId: id, keepMs: limits.keyRetentionMs } };
};

const toolRider: IntentRider = ({ decision: { tool } }, shell) => {
  const manifest = manifestHash(tool, shell);
  // Known once a commit has carried it; until then every commit does, and the same blob is kept once.
  const isFresh = !shell.live.knownBlobs.has(manifest);
  return {
    body: { prepared: { manifest } },
    ...(isFresh ? { blobs: [{ hash: manifest, text: tool.manifest }] } : {}),
  };
};

/** INVARIANT: tokens and budgets are taken with the intent or not at all. */
const quotaRider: IntentRider = ({ call, decision, facts }, shell) => {
  const { takes, asks, notices } = decision;
  if (takes.length === 0) return {};
  const { tenant } = call;
  const holds = takes.flatMap((take) => (take.kind === 'hold' ? [take] : []));
  const warned = notices.map((notice) => note('budget_warned', call, warnedBody(notice, call, holds, facts)));
  return mergeParts([
    {
      tokens: takes.flatMap((take) => {
        if (take.kind !== 'token') return [];
        const { bucket, intervalMicros, burst } = take.limit;
        return [{ tenant, bucket, intervalMicros, burst, isForced: take.isForced }];
      }),
      reserve: holds.map(({ account, micros: amount, limit }) => ({ tenant, account, amount, limit })),
      ...(holds.length === 0
        ? {}
        : { body: { prepared: { budgets: holds.map(({ account, micros }) => ({ account, held: micros })) } } }),
      notes: warned,
    },
    spendingParts(asks, call, shell),
  ]);
};

/** `first`: this very call reached the mark of the budget. */
function warnedBody(
  notice: Notice,
  { agent, tool }: Call,
  holds: readonly Hold[],
  { budgets = [] }: Facts,
): JsonObject {
  const { budget_id: name = null, human_message, resolution } = notice;
  // Budgets of several owners may have one name.
  const hold = holds.find(({ warning }) => warning === notice);
  const fact = budgets.find(({ account }) => account === hold?.account);
  const before = (fact?.settled ?? 0) + (fact?.held ?? 0);
  return {
    agent,
    tool,
    budget_id: name,
    account: hold?.account ?? null,
    human_message,
    first: hold !== undefined && before < (warnsFrom(hold.budget.written) ?? hold.budget.written.max.micros),
    resolution: resolution as unknown as JsonObject,
    notices: [notice as unknown as JsonObject],
  };
}

/** What would be done about its failures. */
const playbookRider: IntentRider = ({ decision: { tool } }, shell) => {
  const { hash, blobs } = playbookOnRecord(recoveryOf(tool, shell), shell);
  return { body: { prepared: { playbook: hash } }, blobs };
};

const policyRider: IntentRider = ({ policy, decision: { rule, softened } }, shell) => {
  if (policy === null) return {};
  const onRecord = policyOnRecord(policy, shell);
  const prepared = {
    ...onRecord.body,
    ...(rule === null ? {} : { rule }),
    ...(softened.length === 0 ? {} : { softened: softened.map(softenedOf) }),
  };
  return { body: { prepared }, blobs: onRecord.blobs };
};

/**
 * INVARIANT: a step is decided for one state of its workflow, runs from that state alone, and takes the turn with its
 * intent.
 */
const workflowRider: IntentRider = ({ call, decision, step }, shell) => {
  if (step === null) return {};
  const { workflow } = step;
  const action = workflow.actions.get(call.tool);
  invariant(action !== undefined, 'the ladder let an undeclared action pass');
  const prepared = {
    workflow: { name: workflow.name, manifest: manifestOf(workflow, shell) },
    state_before: step.digest,
    step: step.seq,
  };
  return {
    body: { prepared },
    expectSeq: step.seq,
    workflow: { ...noChange, turn: 'take', call: call.id, operation: operationOf(action, decision.args) },
    resumption: resumption(call.session, step, shell),
  };
};

/** INVARIANT: the right to run and the approval are taken together or not at all. */
const approvalRider: IntentRider = ({ call, uses }) => {
  if (uses === null) return {};
  const { approval, askedAs, notices } = uses;
  const body = {
    approval: approval.id,
    approved_by: approval.votes.map(({ by }) => by),
    asked_as: askedAs,
    // Whichever process ends the call, its reply says what was changed.
    ...(notices.length === 0 ? {} : { notices: notices as unknown as Json }),
  };
  return {
    approvals: [{ approval: ended(approval, 'used', null), expect: approval.version, maxPending: null }],
    notes: [note('approval_used', call, body)],
  };
};

/** INVARIANT: a ticket goes on once: whoever moves its work with their intent sends, and nobody else. */
const ticketRider: IntentRider = ({ call, continues }) => {
  if (continues === null) return {};
  const { id } = continues;
  return {
    tickets: [{ kind: 'work', id, from: 'due', to: 'untold', continuation: call.id }],
    notes: [note('ticket_continued', call, { ticket: id, became: 'continued', continues: continues.call })],
  };
};
/** INVARIANT: whoever has the intent of a reversing call has the token, and nobody else. */
const reversalRider: IntentRider = ({ call, decision: { tool }, undoing }) => undoingParts(call, tool, undoing);

const riders: readonly IntentRider[] = [
  callRider,
  keyRider,
  toolRider,
  playbookRider,
  policyRider,
  workflowRider,
  approvalRider,
  ticketRider,
  quotaRider,
  reversalRider,
];

const hashes = new WeakMap<ToolEntry, string>();

/** A declaration does not change while the gateway runs: it is hashed once. */
function manifestHash(tool: ToolEntry, shell: Shell): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const hash = shell.ports.sha256(tool.manifest);
  hashes.set(tool, hash);
  return hash;
}

/** Audit mode let it pass; the record says what enforcing would have answered. */
function softenedOf({ gate, refusal }: Softened): JsonObject {
  const rule = 'rule_ref' in refusal ? (refusal.rule_ref ?? null) : null;
  return { gate, code: refusal.code, rule };
}

/** The small facts a decision saw. Schemas and rules are kept as blobs, arguments as payloads. */
export function factsOf(facts: Facts, shell: Shell): JsonObject {
  const seen: Record<string, Json> = {
    gates: [...standingGates(shell.ladder, facts.policy !== undefined)],
    ready: facts.readiness.ready,
    in_flight: facts.inFlight.now,
  };
  if (facts.session !== undefined)
    seen['session'] = facts.session.found ? { state: facts.session.state, seq: facts.session.seq } : 'unknown';
  if (facts.unlisted !== undefined) seen['unlisted_servers'] = facts.unlisted.map(({ name }) => name);
  if (facts.turnCancelled !== undefined) seen['turn_cancelled'] = facts.turnCancelled;
  if (facts.evidence?.ok === true) seen['evidence'] = facts.evidence.hash;
  if (facts.evidenceNow !== undefined)
    seen['evidence_now'] = facts.evidenceNow.kind === 'read' ? facts.evidenceNow.hash : facts.evidenceNow.problem;
  if (facts.approval !== undefined) seen['approval'] = approvalSeen(facts.approval);
  if (facts.arguments !== undefined) seen['validator'] = facts.arguments.ok ? 'accepted' : 'refused';
  return { ...seen, ...limitsSeen(facts) };
}

/** What the gates of egress, rate, budget and credential looked at. */
function limitsSeen(facts: Facts): JsonObject {
  const seen: Record<string, Json> = {};
  if (facts.rates !== undefined) seen['rates'] = facts.rates.map(({ fullAtMicros }) => fullAtMicros);
  if (facts.budgets !== undefined) seen['budgets'] = facts.budgets.map(budgetSeen);
  if (facts.addresses !== undefined)
    seen['addresses'] = facts.addresses.map(({ host, addresses }) => ({ host, addresses: [...addresses] }));
  if (facts.credentials !== undefined) seen['credentials'] = facts.credentials.map(credentialOnRecord);
  return seen;
}

const budgetSeen = ({ account, settled, held, allowed, approval }: BudgetFact): JsonObject => ({
  account,
  settled,
  held,
  allowed,
  approval: approval?.id ?? null,
});

function approvalSeen({ rules, found }: NonNullable<Facts['approval']>): JsonObject {
  return { rules, found: found?.id ?? null, version: found?.version ?? null, state: found?.state ?? null };
}
