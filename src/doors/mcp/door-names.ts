/**
 * Translates names between the door and the gateway. Requests may use either; what a reply offers to call is named as
 * the door lists it, and the rest of a reply keeps the gateway's names.
 */
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import type { Resolution } from '../../core/taxonomy.ts';
import type { Workflow } from '../../core/workflow/workflow.ts';
import { actionNames, besideNames, sameNames } from './model-names.ts';
import { ownTools } from './own-tools.ts';
import { type McpDoorParts, type ModelNames, type ServedWorkflow, servedWorkflow } from './parts.ts';
import type { ToolCall } from './call/read-tool-call.ts';

/** The call with the gateway's name of the tool. */
export function withOwnName(call: ToolCall, parts: McpDoorParts): ToolCall {
  return call.name === null ? call : { ...call, name: readName(call.name, parts) };
}

function readName(given: string, parts: McpDoorParts): string {
  const own = toolsOf(parts).read(given);
  return own === given && parts.tools !== null ? parts.tools.names().read(given) : own;
}

/** The names under which this door lists the next actions. */
export function offeredNames(parts: McpDoorParts): ModelNames {
  return parts.workflow === null && parts.tools !== null ? parts.tools.names() : actionsOf(parts);
}

/** The reply with everything it offers to call named as the door lists it. */
export function offer<Told extends Reply>(reply: Told, parts: McpDoorParts): Told {
  const { write } = offeredNames(parts);
  if (write === sameNames.write || 'pending' in reply) return reply;
  const told = { ...reply, ...offerNext(reply, write) };
  if (!('error' in reply)) return told;
  const error = { ...told, resolution: offerChoice(reply.resolution, write), message: offerInWords(reply, write) };
  if (reply.error !== 'unknown_action') return error;
  const near = reply.did_you_mean;
  return {
    ...error,
    known_actions: reply.known_actions.map(write),
    did_you_mean: near === null ? null : write(near),
  };
}

/** Where the gateway's own messages contain names of actions. Texts of others are not changed. */
const inHint = [
  /(?<= call (?:one|another) of valid_next_actions, such as ').*(?='\.$)/,
  /(?<= again(?: like this)?: change the inputs of ').*?(?='(?:\.$|, or call another of valid_next_actions,))/,
];
const inWordsOf: Readonly<Partial<Record<ErrorReply['error'], RegExp>>> = {
  invalid_transition: /(?<= Valid actions now: \[').*?(?='\]\.)/,
  unknown_action: /(?<= Did you mean ').*?(?='\?)/,
};

type Words = Pick<ErrorReply, 'error' | 'message'>;

export function offerInWords({ error, message }: Words, write: ModelNames['write']): string {
  const written = (names: string) => names.split("', '").map(write).join("', '");
  const places = [inWordsOf[error] ?? [], inHint].flat();
  return places.reduce((words, place) => words.replace(place, written), message);
}

interface Next<Schema> {
  readonly valid_next_actions: readonly string[];
  readonly next_action_schemas?: Readonly<Record<string, Schema>>;
}

export function offerNext<Schema>(next: Next<Schema>, write: ModelNames['write']): Next<Schema> {
  const { valid_next_actions: actions, next_action_schemas: schemas } = next;
  const told = { valid_next_actions: actions.map(write) };
  if (schemas === undefined) return told;
  const named = Object.entries(schemas).map(([own, schema]) => [write(own), schema] as const);
  return { ...told, next_action_schemas: Object.fromEntries(named) };
}

function offerChoice(resolution: Resolution, write: ModelNames['write']): Resolution {
  return resolution.type === 'choose_action' ? { ...resolution, actions: resolution.actions.map(write) } : resolution;
}

const ofWorkflows = new WeakMap<Workflow, ModelNames>();

/** In step mode an action is an argument and not listed as a tool. */
export function actionsOf({ workflow: served, mode }: Pick<McpDoorParts, 'workflow' | 'mode'>): ModelNames {
  const workflow = served === null || mode === 'step' ? null : servedWorkflow(served);
  if (workflow === null) return sameNames;
  if (served?.isBeside === true) return toolsOf({ workflow: served, mode });
  const known = ofWorkflows.get(workflow) ?? actionNames(workflow.actions.keys());
  ofWorkflows.set(workflow, known);
  return known;
}

const sessionTools = ['reset_session', 'fork_session', ownTools.next, ownTools.history, ownTools.complete];

/** The names of all tools of the workflow, session tools included. */
export function toolsOf(parts: Pick<McpDoorParts, 'workflow' | 'mode'>): ModelNames {
  const { workflow: served, mode } = parts;
  if (served?.isBeside !== true) return actionsOf(parts);
  return besideNames(served.name, ownNames(served, mode));
}

function ownNames(served: ServedWorkflow, mode: McpDoorParts['mode']): readonly string[] {
  const actions = mode === 'step' ? ['step'] : served.actions;
  return [...actions, ...sessionTools];
}

/** All names that a workflow uses when it is served beside others. */
export function takenNames({ workflow: served, mode }: Pick<McpDoorParts, 'workflow' | 'mode'>): readonly string[] {
  return served === null ? [] : ownNames(served, mode).map(besideNames(served.name, []).write);
}

/** Whether a workflow that is served beside others has a tool of this name. */
export const isToolOf = (given: string, parts: McpDoorParts): boolean => toolsOf(parts).read(given) !== given;
