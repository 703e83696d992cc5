/**
 * Lists the tools of the door: `step` or one tool per action of a workflow and its session tools, the gateway's tools
 * as their servers describe them, and the gateway's own. The list does not depend on the state of a session.
 */
import type { Principal } from '../../core/call/call.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import { cut } from '../../core/values/canonical.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { ActionEntry, Workflow } from '../../core/workflow/workflow.ts';
import { admitEnvelope, replyOutputSchema } from './output-schema.ts';
import { actionsOf, toolsOf } from './door-names.ts';
import { ownListings, ownTools } from './own-tools.ts';
import { type McpDoorParts, type ModelNames, servedWorkflow } from './parts.ts';
import { takesSessionArgument } from './call/read-tool-call.ts';

const maxDescriptionChars = 8_000;
const maxActionLineChars = 300;

const sessionField = {
  type: 'string',
  description: 'The session of an earlier reply; left out, the one of this connection.',
};

export function listTools(parts: McpDoorParts, who: Principal): readonly JsonObject[] {
  const workflow = parts.workflow === null ? null : servedWorkflow(parts.workflow);
  const own = workflow === null ? [] : [...toolsOfWorkflow(workflow, parts, who), ...sessionTools];
  const direct = parts.tools === null ? [] : toolsOfCatalogue(parts.tools.catalogue(who), parts.tools.names());
  const listed = new Map<unknown, JsonObject>();
  // The first tool of a name is served: a declared action or tool comes before one of ours.
  for (const tool of [...own, ...direct, ...ownListings(parts, who)])
    if (!listed.has(tool['name'])) listed.set(tool['name'], tool);
  return parts.workflow?.isBeside === true ? besideOthers([...listed.values()], parts) : [...listed.values()];
}

/** Prefixed with the workflow's name; without the tools of ours that are listed once for all. */
function besideOthers(listed: readonly JsonObject[], parts: McpDoorParts): readonly JsonObject[] {
  const { write } = toolsOf(parts);
  const ofAll: readonly unknown[] = [ownTools.awaitApproval, ownTools.awaitTicket, ownTools.reverse];
  const ofWorkflow = listed.filter(({ name }) => !ofAll.includes(name));
  return ofWorkflow.map((tool) => ({ ...tool, name: write(String(tool['name'])) }));
}

function toolsOfWorkflow(workflow: Workflow, parts: McpDoorParts, who: Principal): readonly JsonObject[] {
  const { workflow: served, mode } = parts;
  const names = actionsOf(parts);
  const actions = [...workflow.actions.values()].filter((action) => served?.isListed?.(action, who) ?? true);
  // Beside others, all tools of the workflow are prefixed later.
  const write = served?.isBeside === true ? (own: string) => own : names.write;
  return mode === 'step' ? [stepTool(workflow, actions)] : actions.map((action) => actionTool(action, write));
}

function stepTool(workflow: Workflow, actions: readonly ActionEntry[]): JsonObject {
  const description = [
    `Takes one step of the workflow '${workflow.name}'. ${workflow.description}`.trim(),
    'Every reply, success or refusal, carries valid_next_actions: read it, pick one, send the next step.',
    'Pass `session` from the last reply to go on in it. Pass `key`, a text of your own, when a repeat must not happen twice: the same key gives the first reply again.',
    'effect "none" means that nothing happened; "unknown" that it may have happened: do not repeat that action, find out first.',
    `Actions:\n${actions.map(actionLine).join('\n')}`,
  ].join('\n');
  return {
    name: 'step',
    description: cut(description, maxDescriptionChars),
    inputSchema: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: actions.map(({ name }) => name), description: 'One of valid_next_actions.' },
        inputs: { type: 'object', description: 'The inputs of the action. A JSON text of them is understood, too.' },
        session: sessionField,
        key: { type: 'string', description: 'Makes a repeat harmless: the same key is the same step.' },
        expected_seq: { type: 'integer', description: 'Refuse if the session has moved on from this seq.' },
        turn: { type: 'string', description: 'Groups steps that can be cancelled together.' },
        wait_seconds: { type: 'number', description: 'Answer `pending` if it takes longer than this.' },
      },
      required: ['action'],
    },
    outputSchema: replyOutputSchema,
  };
}

/** `take_order {drink, size?}: Takes an order.` */
function actionLine({ name, description, inputSchema }: ActionEntry): string {
  const properties = isObject(inputSchema?.['properties']) ? Object.keys(inputSchema['properties']) : [];
  const required = Array.isArray(inputSchema?.['required']) ? inputSchema['required'] : [];
  const fields = properties.map((field) => (required.includes(field) ? field : `${field}?`));
  const inputs = fields.length > 0 ? ` {${fields.join(', ')}}` : '';
  return cut(`- ${name}${inputs}${description === '' ? '' : `: ${description}`}`, maxActionLineChars);
}

function actionTool(action: ActionEntry, write: ModelNames['write']): JsonObject {
  return {
    name: write(action.name),
    description: action.description,
    inputSchema: inputOfAction(action),
    outputSchema: replyOutputSchema,
    annotations: { readOnlyHint: action.effectClass === 'pure' },
  };
}

function inputOfAction(action: ActionEntry): JsonObject {
  const schema = objectSchema(action);
  if (!takesSessionArgument(action)) return schema;
  const own = isObject(schema['properties']) ? (schema['properties'] as JsonObject) : {};
  return { ...schema, properties: { ...own, session: sessionField } };
}

const sessionTools: readonly JsonObject[] = [
  {
    name: 'reset_session',
    description:
      'Puts the workflow session back to where it began. What was done stays done, and stays in its history.',
    inputSchema: { type: 'object', properties: { session: sessionField } },
    outputSchema: replyOutputSchema,
  },
  {
    name: 'fork_session',
    description:
      'Opens a new session that begins where another one stood after its step `seq`, or stands now. The reply names it: pass it as `session`; the old one goes on unchanged.',
    inputSchema: {
      type: 'object',
      properties: {
        session: sessionField,
        seq: { type: 'integer', description: 'After which step; now, if left out.' },
      },
    },
    outputSchema: replyOutputSchema,
  },
];

/** A server's description of its tool is passed on; only the name is the door's. */
function toolsOfCatalogue(catalogue: Catalogue, { write }: ModelNames): readonly JsonObject[] {
  return [...catalogue.values()].map((entry) => ({
    description: entry.description,
    ...(entry.listing === null ? { outputSchema: replyOutputSchema } : passedListing(entry.listing)),
    name: write(entry.name),
    inputSchema: objectSchema(entry),
  }));
}

/** The server's listing, with an output schema that also admits our envelope. */
function passedListing(listing: JsonObject): JsonObject {
  const outputSchema = admitEnvelope(listing['outputSchema']);
  return outputSchema === null ? listing : { ...listing, outputSchema };
}

/** MCP requires `type: object` at the root of an input schema. */
function objectSchema({ inputSchema }: ToolEntry): JsonObject {
  return inputSchema === null ? { type: 'object' } : { ...inputSchema, type: 'object' };
}
