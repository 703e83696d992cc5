/**
 * Runs the act that a tool name stands for: a step of the workflow, a session tool, or a tool behind the gateway. An
 * unknown name is a typed refusal. Never rejects.
 */
import { randomUUID } from 'node:crypto';
import { internalError } from '../../../core/call/answer.ts';
import type { CallId } from '../../../core/call/call.ts';
import type { FieldError } from '../../../core/call/catalogue.ts';
import { cut, pointerStep, preview } from '../../../core/values/canonical.ts';
import type { Json } from '../../../core/values/json.ts';
import { isSuccess, type Reply } from '../../../core/call/reply.ts';
import type { Requester } from '../../../shell/call/await-outcome.ts';
import { type Connection, ownSession, stepInOwnSession } from '../connection.ts';
import { toolsOf } from '../door-names.ts';
import { ownTool, ownTools } from '../own-tools.ts';
import {
  type DoorCompletion,
  type DoorReversals,
  type McpDoorParts,
  type ServedWorkflow,
  servedWorkflow,
} from '../parts.ts';
import { argumentsOf, isHandle, misplacedSession, takesSessionArgument, type ToolCall } from './read-tool-call.ts';
import { suppressed } from '../../../core/values/suppressed.ts';

const maxNameChars = 256;

interface Asked {
  readonly call: ToolCall;
  readonly requester: Requester;
  readonly connection: Connection;
  readonly parts: McpDoorParts;
}

export async function performCall(asked: Asked): Promise<Reply> {
  try {
    return await perform(asked);
  } catch (error) {
    // The service never rejects, so this is a bug; the client still gets a typed reply.
    const correlationId = randomUUID();
    asked.parts.notify(suppressed(`a bug in the MCP door (${correlationId})`, error));
    const envelope = { requested: asked.call.name, callId: correlationId as CallId, session: null, nextActions: [] };
    return internalError(envelope, correlationId, 'unknown');
  }
}

async function perform(asked: Asked): Promise<Reply> {
  const { call, parts, requester, connection } = asked;
  const { name } = call;
  if (name === null) return unfit('/name', 'the name of a tool, as tools/list has it', call.gotName, asked);
  if (parts.workflow !== null) {
    const ofWorkflow = workflowAct(name, parts.workflow, asked);
    if (ofWorkflow !== null) return ofWorkflow();
  }
  if (parts.reversals !== undefined && ownTool(name, parts, connection.who) === ownTools.reverse)
    return reverse(parts.reversals, asked);
  if (parts.completion !== undefined && ownTool(name, parts, connection.who) === ownTools.complete)
    return complete(parts.completion, asked);
  if (parts.tools !== null) {
    // The gateway refuses arguments that are not an object.
    const args = argumentsOf(call) ?? call.args;
    return parts.tools.call({ ...call.controls, tool: name, args }, connection.who, requester);
  }
  if (parts.workflow !== null) return unknownTool(name, parts.workflow, asked);
  return unfit('/name', 'the name of a tool; this server has none', name, asked);
}

/** Null if no tool of the workflow has this name. */
function workflowAct(name: string, served: ServedWorkflow, asked: Asked): (() => Promise<Reply>) | null {
  const { mode } = asked.parts;
  if (mode === 'step' && name === 'step') return () => stepFrom(served, asked);
  const action = mode === 'step' ? undefined : servedWorkflow(served)?.actions.get(name);
  if (action !== undefined) {
    const given = argumentsOf(asked.call);
    if (given === null || !takesSessionArgument(action)) {
      // With the session named in `_meta`, `session` may be any input.
      const named = asked.call.controls['session'] ?? null;
      const misplaced = given === null || named !== null ? null : misplacedSession(action, given);
      if (misplaced !== null) return () => unfitIn(misplaced, name, ['/session', elsewhere, misplaced], served, asked);
      return () => step({ action: name, inputs: given ?? asked.call.args }, served, asked);
    }
    const { session, ...inputs } = given;
    return () => step({ action: name, inputs, ...(session === undefined ? {} : { session }) }, served, asked);
  }
  if (name === 'reset_session') return () => reset(served, asked);
  return name === 'fork_session' ? () => fork(served, asked) : null;
}

const elsewhere =
  'left out, for this action takes none among its arguments: name the session in _meta["recourse/session"] instead';

function stepFrom(served: ServedWorkflow, asked: Asked): Promise<Reply> {
  const given = argumentsOf(asked.call);
  // Without an action the step is refused, with the possible actions.
  return step(given ?? { inputs: asked.call.args }, served, asked);
}

async function step(
  given: Readonly<Record<string, unknown>>,
  served: ServedWorkflow,
  { call, connection, requester }: Asked,
): Promise<Reply> {
  const raw = { ...given, ...leftToMeta(given, call) };
  const take = (session: unknown, entered?: Requester['entered']) =>
    served.service.step(served.name, { ...raw, session }, connection.who, { ...requester, entered });
  // Models that fill in every field send an empty session: that names none. `heldIn` is the session that was opened
  // for the
  // first request of a stateless client.
  const named = (raw['session'] === '' ? null : raw['session']) ?? call.heldIn;
  if (named !== null) return take(named);
  return stepInOwnSession(connection, served, typeof raw['key'] === 'string', take);
}

/** Fields of `_meta` that the arguments leave empty: a model that fills in every field does not override its client. */
function leftToMeta(given: Readonly<Record<string, unknown>>, { controls }: ToolCall): ToolCall['controls'] {
  const isOpen = (name: string) => (given[name] ?? '') === '';
  return Object.fromEntries(Object.entries(controls).filter(([name]) => isOpen(name)));
}

async function reset(served: ServedWorkflow, asked: Asked): Promise<Reply> {
  const given = onlyFields(['session'], asked);
  if ('wrong' in given) return unfitIn(namedSession(asked), 'reset_session', given.wrong, served, asked);
  const session = await meantSession(served, asked);
  return typeof session === 'string' ? served.service.reset(session, asked.connection.who) : session.refusal;
}

async function fork(served: ServedWorkflow, asked: Asked): Promise<Reply> {
  const given = onlyFields(['session', 'seq'], asked);
  if ('wrong' in given) return unfitIn(namedSession(asked), 'fork_session', given.wrong, served, asked);
  const seq = given.fields['seq'] ?? null;
  if (seq !== null && !(typeof seq === 'number' && Number.isSafeInteger(seq) && seq >= 0)) {
    const wrong = ['/seq', 'a whole number from 0, or nothing', preview(seq)] as const;
    return unfitIn(namedSession(asked), 'fork_session', wrong, served, asked);
  }
  const session = await meantSession(served, asked);
  return typeof session === 'string' ? served.service.fork(session, seq, asked.connection.who) : session.refusal;
}

/** At a workflow's door for a session of that workflow; otherwise for the named session, or the agent's own. */
async function reverse({ redeem }: DoorReversals, asked: Asked): Promise<Reply> {
  const given = onlyFields(['reversal_token'], asked);
  if ('wrong' in given) return unfit(...given.wrong, asked);
  const token = given.fields['reversal_token'];
  if (typeof token !== 'string' || token.length > maxNameChars)
    return unfit('/reversal_token', 'the reversal_token of a reply', preview(token ?? null), asked);
  return redeem(token, asked.connection.who, asked.requester);
}

async function complete({ run }: DoorCompletion, asked: Asked): Promise<Reply> {
  const { parts, connection, call } = asked;
  const given = onlyFields(['session'], asked);
  if ('wrong' in given)
    return parts.workflow === null
      ? unfit(...given.wrong, asked)
      : unfitIn(namedSession(asked), ownTools.complete, given.wrong, parts.workflow, asked);
  const session =
    given.fields['session'] ?? call.controls['session'] ?? (parts.workflow === null ? null : connection.session);
  if (parts.workflow === null) return run(session === null ? {} : { session }, connection.who);
  if (typeof session !== 'string')
    return unfit('/session', 'the session that an earlier reply named', preview(session), asked);
  const view = await parts.workflow.service.look(session, connection.who);
  if ('error' in view) return view;
  const reply = await run({ session }, connection.who);
  // The next step on this connection opens a new session.
  if (isSuccess(reply) && connection.session === session) connection.session = null;
  return reply;
}

/** INVARIANT: a misspelt `session` does not end, reset or fork another session than the caller meant. */
function onlyFields(known: readonly string[], { call }: Asked): OnlyFields {
  const fields = argumentsOf(call);
  if (fields === null) return { wrong: ['/arguments', 'an object', preview(call.args)] };
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown === undefined) return { fields };
  return { wrong: [`/${pointerStep(cut(unknown, 100))}`, `only ${known.join(' and ')}`, null] };
}

type Wrong = readonly [path: string, expected: string, got: Json];
type OnlyFields = { readonly fields: Readonly<Record<string, unknown>> } | { readonly wrong: Wrong };

/** The session that the caller named, or that of the connection. */
async function meantSession(served: ServedWorkflow, asked: Asked): Promise<string | { readonly refusal: Reply }> {
  const session = namedByCaller(asked) ?? (await ownSession(asked.connection, served));
  if (typeof session === 'string') return session;
  return { refusal: await unfit('/session', 'the session that an earlier reply named', preview(session), asked) };
}

/**
 * INVARIANT: only a listed tool runs. In step mode an action's own name is no tool, though the name of an action is
 * what a step would run.
 */
function unknownTool(name: string, served: ServedWorkflow, asked: Asked): Promise<Reply> {
  if (servedWorkflow(served)?.actions.has(name) === true) {
    const step = served.isBeside === true ? toolsOf(asked.parts).write('step') : 'step';
    const wrong = ['/name', `'${step}', with the action '${name}' in its arguments`, name] as const;
    return unfitIn(namedSession(asked), name, wrong, served, asked);
  }
  const inputs = argumentsOf(asked.call) ?? {};
  // Refused in the named session, or the caller would continue in another.
  const { session } = inputs;
  return step({ action: name, inputs, ...(isHandle(session) ? { session } : {}) }, served, asked);
}

const namedByCaller = ({ call }: Pick<Asked, 'call'>): unknown =>
  argumentsOf(call)?.['session'] ?? call.controls['session'] ?? null;

/** The session of the request, as far as it is known without opening one. */
const namedSession = (asked: Pick<Asked, 'call' | 'connection'>): unknown =>
  namedByCaller(asked) ?? asked.connection.session;

/** Refuses the state with which a client returned to `call`. */
export async function refuseState(expected: string, asked: Omit<Asked, 'requester'>): Promise<Reply> {
  const { call, parts } = asked;
  const { name } = call;
  if (parts.workflow === null || name === null) return unfit('/requestState', expected, null, asked);
  const action = parts.mode === 'step' && name === 'step' ? argumentsOf(call)?.['action'] : name;
  const requested = typeof action === 'string' ? cut(action, maxNameChars) : name;
  return unfitIn(namedSession(asked), requested, ['/requestState', expected, null], parts.workflow, asked);
}

/** Refused in the history of the session, with its next actions; a session of another agent counts as none. */
async function unfitIn(
  meant: unknown,
  requested: string,
  [path, expected, got]: Wrong,
  { service }: ServedWorkflow,
  { parts, connection }: Pick<Asked, 'parts' | 'connection'>,
): Promise<Reply> {
  const view = typeof meant === 'string' ? await service.look(meant, connection.who) : null;
  const session = view === null || 'error' in view ? null : view.session;
  return parts.unfit([{ path, expected, got }], connection.who, { requested, session });
}

function unfit(
  path: string,
  expected: string,
  got: Json,
  { parts, connection }: Pick<Asked, 'parts' | 'connection'>,
): Promise<Reply> {
  const wrong: FieldError = { path, expected, got };
  return parts.unfit([wrong], connection.who);
}
