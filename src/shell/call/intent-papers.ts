/** What the record of an intent says: the gates that stood, the facts they saw, and the tool as it was declared. */
import type { Call, Request } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { type Decision, type Softened, standingGates } from '../../core/call/decide.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { operationOf, type StepFact } from '../../core/workflow/step.ts';
import type { KeyClaim, WorkflowChange } from '../../ports/store.ts';
import { maskArgs } from '../mask.ts';
import { policyPapers } from './policy-papers.ts';
import { manifestOf } from '../session/position.ts';
import { resumption } from '../session/resumption.ts';
import type { Shell } from '../shell.ts';
import { noChange, type CommitParts } from '../ending/transition.ts';

export function intentPapers(
  call: Call,
  request: Request,
  decision: Extract<Decision, { kind: 'run' }>,
  facts: Facts,
  shell: Shell,
): CommitParts {
  const step = stepOf(facts);
  const manifest = manifestHash(decision.tool, shell);
  // Known once a commit has carried it; until then every commit does, and the same blob is kept once.
  const fresh = !shell.live.knownBlobs.has(manifest);
  const argsText = facts.arguments?.ok ? canonicalText(facts.arguments.args) : request.argsText;
  const shown = maskArgs(argsText, call.agent, shell);
  const asSent =
    argsText === request.argsText
      ? []
      : [{ part: 'args_as_sent', text: maskArgs(request.argsText, call.agent, shell) }];
  const policy = policyPapers(shell);
  return {
    body: {
      prepared: {
        tenant: call.tenant,
        agent: call.agent,
        tool: call.tool,
        turn: call.turn,
        effect_class: call.effectClass,
        deadline_ms: call.deadlineAtMs,
        facts: factsOf(facts, shell),
        manifest,
        policy: null,
        ...policy.body,
        ...(decision.rule === null ? {} : { rule: decision.rule }),
        ...(decision.softened.length === 0 ? {} : { softened: decision.softened.map(softenedOf) }),
        workflow: step === null ? null : { name: step.workflow.name, manifest: manifestOf(step.workflow, shell) },
        ...(step === null ? {} : { state_before: step.digest, step: step.seq }),
        playbook: null,
      },
    },
    payloads: { prepared: [{ part: 'args', text: shown }, ...asSent] },
    key: claimOf(call, shell),
    blobs: [...(fresh ? [{ hash: manifest, text: decision.tool.manifest }] : []), ...policy.blobs],
    // INVARIANT: a step is decided for one state of its workflow, and runs from that state alone.
    expectSeq: step === null ? request.expectedSeq : step.seq,
    expectOpen: true,
    workflow: step === null ? null : turnFor(call, decision, step),
    resumption: step === null ? [] : resumption(call.session, step, shell),
  };
}

/** The step takes its session's turn in the very commit that makes it durable. */
function turnFor(call: Call, { args }: Extract<Decision, { kind: 'run' }>, { workflow }: StepFact): WorkflowChange {
  const action = workflow.actions.get(call.tool);
  invariant(action !== undefined, 'the ladder let an undeclared action pass');
  return { ...noChange, turn: 'take', call: call.id, operation: operationOf(action, args) };
}

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
  if (facts.approval !== undefined)
    seen['approval'] = {
      rules: facts.approval.rules,
      found: facts.approval.found?.id ?? null,
      version: facts.approval.found?.version ?? null,
      state: facts.approval.found?.state ?? null,
    };
  if (facts.arguments !== undefined) seen['validator'] = facts.arguments.ok ? 'accepted' : 'refused';
  return seen;
}

function claimOf(call: Call, shell: Shell): KeyClaim | null {
  if (call.key === null) return null;
  const { tenant, agent, key, fingerprint, id } = call;
  return { tenant, agent, key, fingerprint, callId: id, keepMs: shell.limits.keyRetentionMs };
}
