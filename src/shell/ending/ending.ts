/**
 * What an ending is made of: what whoever ends a call says (`Ending`), what is known of the call (`CallContext`), and
 * what a rider adds. A process that runs the call knows its context at once; any other process reads it from the store.
 */
import type { Envelope, RestingReply } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { Payload, RecordDraft } from '../../core/journal/record.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { type Json, type JsonObject, isObject } from '../../core/values/json.ts';
import { type Shell, nextActions, recoveryOf } from '../shell.ts';
import { waitsForSignIn } from '../ticket/waits-for-sign-in.ts';
import { type AttemptUse, type HeldAmount, heldOnRecord } from './held-amounts.ts';
import { keptOnRecord, type KeptParts, partsOf } from './kept-parts.ts';
import type { CommitParts } from './transition.ts';
import type { Notice } from '../../core/call/reply.ts';
import { operationOf, type StepFact, withDueFired } from '../../core/workflow/step.ts';
import type { StageEnd } from '../../ports/stage.ts';
import type { ReversalOrder, Session, StoredCall } from '../../ports/store.ts';
import { type Undoing, undoingOnRecord } from '../reversal/undoing.ts';
import type { Step, Work } from '../attempt/work.ts';
import { readAhead } from '../session/drift.ts';
import { inputsOnRecord, standingNow } from './error-edge.ts';
import { orphansOf, toolOf } from '../session/position.ts';
import type { Dispatch } from '../../core/recovery/dispatch.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { operationOfCall } from '../../core/recovery/operation.ts';
import { recoveryOfUpstream, type ToolRecovery } from '../../core/recovery/playbook.ts';

/** The reply, once the lifecycle has said what is proven of the effect. */
export type Say = (envelope: Envelope, effect: Effect) => RestingReply;

export interface Ending {
  readonly events: readonly CallEvent[];
  readonly say: Say;
  /** What the tool returned; absent unless it did. It moves the workflow. */
  readonly result?: Json | undefined;
  /** The step goes on and takes its turn again, for this operation. */
  readonly takesTurnFor?: string;
  /** Of a stage: what its end does to the workflow. */
  readonly stage?: StageEnd | undefined;
  /** What the attempt used that ended without a result. */
  readonly use?: AttemptUse | undefined;
  /** The earlier step whose result this call takes instead of sending anything. */
  readonly adopts?: CallId;
  /** What the record of the new state says. */
  readonly record?: (end: End) => JsonObject;
  /** Kept with that record, for the audit alone. */
  readonly payloads?: readonly Payload[];
  /** Records beside that of the new state. */
  readonly notes?: (end: End) => readonly RecordDraft[];
  /** What the dispatcher made of a failure, or of a success after failures. */
  readonly dispatch?: Dispatch | undefined;
  /** Its success is undone at once: who wants that, and why. */
  readonly reverse?: ReversalOrder;
  /** What else the commit carries: the intent of a call that begins and ends at once, the end of an approval. */
  readonly parts?: CommitParts;
}

/** An ending whose next state is known. */
export interface Move {
  readonly from: Call;
  readonly next: Call;
  readonly effect: Effect;
  readonly ending: Ending;
  readonly context: CallContext;
}

export interface End extends Move {
  readonly reply: RestingReply;
  /** What the riders say for the record. */
  readonly facts: JsonObject;
}

/** What one capability adds to the commit that ends a call. */
export type EndRider = (move: Move, shell: Shell) => EndAddition;

export interface EndAddition {
  readonly parts?: CommitParts;
  readonly facts?: JsonObject;
  /** In place of the envelope, or the reply, of a call that is nothing but a call. */
  readonly envelope?: Envelope;
  readonly say?: Say;
  /** What the envelope has beside the rest, whoever made it. */
  readonly beside?: Partial<Envelope>;
  /** When someone must look at the call again. */
  readonly dueAtMs?: number;
}

export interface CallContext {
  /** The step that this process runs; null for any other call. */
  readonly step: Step | null;
  /** Whether the call has the turn of a workflow session that this process does not run. */
  readonly hasTurn: boolean;
  /** Of a step that ends later than it ran, or elsewhere: where its session stands, if the end may move it. */
  readonly standing?: Step | null;
  /** Its doubt ends with those of its own calls. */
  readonly isStage?: boolean;
  readonly envelope: (call: Call) => Envelope;
  /** What the reply says beside the outcome. */
  readonly notices: readonly Notice[];
  /** By when work that goes on after a success must be reported; null if the work ends with the call. */
  readonly reportsWithinMs: number | null;
  readonly recovery: ToolRecovery;
  /** Outside workflows: which operation it is; null if its tool declares no key. */
  readonly operation: string | null;
  /**
   * What is fenced if its upstream forbids it; null where this process did not send it. `nothing`: of a model, whose
   * provider refuses a key or a model, not an operation.
   */
  readonly forbids: { readonly session: SessionId | null; readonly operation: string } | 'nothing' | null;
  /** The credential for which somebody must sign in, as it is now; absent where this process did not send it. */
  readonly signIn?: (agent: string) => string | null;
  /** What it holds of budgets. */
  readonly holds: readonly HeldAmount[];
  /** What of its items is done; null unless it is sent again for the others. */
  readonly parts: KeptParts | null;
  readonly undoing: Undoing;
}

export function contextHere(work: Work, shell: Shell): CallContext {
  const step = work.step === null ? null : { fact: work.step, inputs: work.args };
  return {
    step,
    hasTurn: false,
    isStage: work.tool.isStage === true,
    envelope: (call) => envelopeOf(call, shell, step),
    notices: work.notices ?? [],
    reportsWithinMs: work.tool.reportsWithinMs,
    recovery: recoveryOf(work.tool, shell),
    operation: step === null ? operationOfCall(work.tool, work.args) : null,
    forbids:
      work.tool.metered === undefined
        ? { session: work.bodyOf?.session ?? null, operation: operationIn(work) }
        : 'nothing',
    signIn: (agent) => waitsForSignIn(work.tool, agent, shell),
    holds: work.holds,
    parts: work.kept === undefined ? null : partsOf(work.kept, recoveryOf(work.tool, shell), work.args),
    undoing: work.undoing ?? {},
  };
}

/** By default the whole tool: what was forbidden is not tried in other words. */
function operationIn({ step, tool, args }: Work): string {
  const action = step?.workflow.actions.get(tool.name);
  return action === undefined ? (operationOfCall(tool, args) ?? tool.policyName) : operationOf(action, args);
}

/** For a call that this process does not run; `next` is the call as it will be. */
export async function contextElsewhere(call: StoredCall, next: Call, shell: Shell): Promise<CallContext> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  const envelope = await envelopeElsewhere(next, session, shell);
  // What waits for its approval never ran: it holds no turn, and nobody has changed what was sent.
  const hasRun = call.state !== 'AWAITING_APPROVAL';
  const { tool } = await toolOf(call, shell);
  const recovery = tool === undefined ? recoveryOfUpstream(call.tool) : recoveryOf(tool, shell);
  return {
    step: null,
    hasTurn: hasRun && session !== null && session.workflow !== null,
    isStage: tool?.isStage === true,
    standing: session === null || session.workflow === null ? null : await standingOf(call, next, shell),
    envelope: () => envelope,
    notices: hasRun ? await noticesOf(call.id, shell) : [],
    reportsWithinMs: next.state === 'SUCCEEDED' ? await reportsWithinAsDeclared(call.id, shell) : null,
    recovery,
    operation: tool === undefined || session?.workflow !== null ? null : await operationElsewhere(call.id, tool, shell),
    forbids: null,
    holds: await heldOnRecord(call, tool, shell),
    parts: call.kept === true ? await partsElsewhere(call.id, recovery, shell) : null,
    undoing: hasRun ? await undoingOnRecord(call, tool, shell) : {},
  };
}

/** An end of these states may be one that the machine hears of. */
const heardStates: ReadonlySet<Call['state']> = new Set(['FAILED', 'CLOSED_UNKNOWN', 'REJECTED'] as const);

/** How long the step that has the turn is waited for, before an end elsewhere moves the state. */
const standingWaitMs = 5_000;

async function standingOf(call: StoredCall, next: Call, shell: Shell): Promise<Step | null> {
  if (!heardStates.has(next.state)) return null;
  const fact = await standingNow(call, standingWaitMs, shell);
  return fact === null ? null : { fact, inputs: await inputsOnRecord(call.id, shell) };
}

/** A doubt may end long after its step: what the machine does then follows from where the session stands by then. */
export async function contextAfterDoubt(from: Call, context: CallContext, shell: Shell): Promise<CallContext> {
  if (from.state !== 'IN_DOUBT' || context.step === null) return context;
  const fact = await standingNow(from, standingWaitMs, shell);
  return { ...context, standing: fact === null ? null : { fact, inputs: context.step.inputs } };
}

async function partsElsewhere(id: CallId, recovery: ToolRecovery, shell: Shell): Promise<KeptParts> {
  const args = await shell.ports.store.args(id);
  const sent = args.kind === 'text' ? (JSON.parse(args.text) as Json) : null;
  return partsOf(await keptOnRecord(id, shell), recovery, sent);
}

/** Arguments that are gone may be those of any operation of the tool. */
async function operationElsewhere(id: CallId, tool: ToolEntry, { ports }: Shell): Promise<string | null> {
  if (tool.operationKey === undefined) return null;
  const args = await ports.store.args(id);
  return args.kind === 'text' ? operationOfCall(tool, JSON.parse(args.text) as Json) : tool.policyName;
}

/** The notices that the journal keeps with the intent: whichever process ends the call, its reply says the same. */
export async function noticesOf(id: CallId, { ports }: Shell): Promise<readonly Notice[]> {
  const kept = (await ports.store.recordsOf(id)).filter(
    ({ kind }) => kind === 'approval_used' || kind === 'budget_warned',
  );
  return kept.flatMap(({ body }) => (JSON.parse(body) as { notices?: readonly Notice[] }).notices ?? []);
}

/** As the tool was declared when the call was prepared: whoever ends the call need not have the tool. */
async function reportsWithinAsDeclared(call: CallId, { ports }: Shell): Promise<number | null> {
  const { store } = ports;
  const prepared = (await store.recordsOf(call)).find(({ kind }) => kind === 'prepared');
  const { manifest, workflow } = fieldsOf(prepared?.body);
  const read = async (hash: unknown) =>
    fieldsOf(typeof hash === 'string' ? ((await store.blob(hash)) ?? undefined) : undefined);
  const declared = await read(manifest);
  if (typeof declared['boundTool'] !== 'string' || !isObject(workflow)) return withinIn(declared);
  const { tools } = await read(workflow['manifest']);
  return isObject(tools) ? withinIn(tools[declared['boundTool']]) : null;
}

function withinIn(declared: unknown): number | null {
  const within = isObject(declared) ? declared['reports_within_ms'] : null;
  return typeof within === 'number' ? within : null;
}

function fieldsOf(text: string | undefined): Readonly<Record<string, unknown>> {
  const value = text === undefined ? null : (JSON.parse(text) as Json);
  return isObject(value) ? value : {};
}

export function envelopeOf(call: Call, shell: Shell, step: Step | null = null): Envelope {
  if (step !== null) return envelopeOfStep(call, step.fact, shell, step.inputs);
  return { requested: call.tool, callId: call.id, session: call.session, nextActions: nextActions(shell, call) };
}

/**
 * The next actions as they are now: this step's own doubt and its running body count already. `inputs`: if they are
 * known here.
 */
export function envelopeOfStep(call: Call, fact: StepFact, shell: Shell, inputs: Json | null = null): Envelope {
  const session = call.session as NonNullable<Call['session']>;
  const action = fact.workflow.actions.get(call.tool);
  const operation = action === undefined || inputs === null ? (action?.operation ?? '') : operationOf(action, inputs);
  const doubt = { operation, callId: call.id, session, fingerprint: call.fingerprint, inDoubt: true };
  const others = fact.fences.filter(({ callId }) => callId !== call.id);
  const fences = call.state === 'IN_DOUBT' ? [...others, doubt] : others;
  const standing: StepFact = { ...fact, fences, running: orphansOf(session, shell) };
  // A timer may have fallen due while the body ran.
  const now = fact.drift === null ? withDueFired(standing, shell.ports.clock.nowMs()) : standing;
  return { requested: call.tool, callId: call.id, session, nextActions: nextActions(shell, call, now) };
}

async function envelopeElsewhere(call: Call, session: Session | null, shell: Shell): Promise<Envelope> {
  const fact = session === null ? null : await readAhead(session, shell);
  if (fact !== null) return envelopeOfStep(call, fact, shell);
  // Of a workflow that is not served here nobody can say what is next.
  const next = session !== null && session.workflow !== null ? [] : nextActions(shell, call);
  return { requested: call.tool, callId: call.id, session: call.session, nextActions: next };
}
