/**
 * The resources of a workflow session: next actions, state, history, and the graph of the workflow. For the session of
 * the connection, or the one that the URI names.
 */
import { type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/call/call.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Workflow } from '../../core/workflow/workflow.ts';
import type { SessionView } from '../../shell/session/workflow-service.ts';
import { ownSession } from './connection.ts';
import { offeredNames, offerNext } from './door-names.ts';
import { type ServedWorkflow, servedWorkflow } from './parts.ts';
import type { Serving } from './serving.ts';

const json = 'application/json';
const mermaid = 'text/vnd.mermaid';

const resources = {
  next: { mimeType: json, description: 'The actions that are possible now, and the schemas of their inputs.' },
  state: { mimeType: json, description: 'Where the session stands.' },
  session: { mimeType: json, description: 'Everything that is told of the session.' },
  history: { mimeType: json, description: 'Every attempt, refusals included, oldest first; ?after=n reads on.' },
  graph: { mimeType: json, description: 'The states and edges of the workflow, and which are active.' },
  'graph.mmd': { mimeType: mermaid, description: 'The same as a Mermaid diagram.' },
} as const;

type ResourceName = keyof typeof resources;
const names = Object.keys(resources) as readonly ResourceName[];
const address = /^recourse:\/\/([a-z.]{1,20})(?:\/([^/?#]{1,800}))?(?:\?after=(\d{1,15}))?$/;

export function listResources(): readonly JsonObject[] {
  return names.map((name) => ({ uri: `recourse://${name}`, name, ...resources[name] }));
}

export function listTemplates(): readonly JsonObject[] {
  return names.map((name) => {
    const paged = name === 'history' ? '{?after}' : '';
    return { uriTemplate: `recourse://${name}/{session}${paged}`, name: `${name} of a session`, ...resources[name] };
  });
}

export async function readResource(
  params: unknown,
  served: ServedWorkflow,
  serving: Serving,
): Promise<ReadResourceResult> {
  const uri = isObject(params) && typeof params['uri'] === 'string' ? params['uri'] : '';
  const found = readAddress(uri);
  if (found === null) throw new ResourceNotFoundError(uri);
  const content = await contentOf(found, served, serving);
  if (typeof content === 'string') return { contents: [{ uri, mimeType: mermaid, text: content }] };
  return { contents: [{ uri, mimeType: json, text: JSON.stringify(content) }] };
}

export interface Address {
  readonly name: ResourceName;
  readonly session: string | null;
  readonly after: number;
  /** The number of history entries; a page if not given. */
  readonly limit?: number;
}

function readAddress(uri: string): Address | null {
  const [, name = '', session, after] = address.exec(uri) ?? [];
  if (!names.includes(name as ResourceName)) return null;
  try {
    const named = session === undefined ? null : decodeURIComponent(session);
    return { name: name as ResourceName, session: named, after: Number(after ?? 0) };
  } catch {
    return null;
  }
}

export async function contentOf(
  { name, session, after, limit }: Address,
  served: ServedWorkflow,
  serving: Serving,
): Promise<Json | string> {
  const { connection, limits } = serving;
  const meant = session ?? (await ownSession(connection, served));
  const isGraph = name === 'graph' || name === 'graph.mmd';
  // A drawing needs no session. Reading anything else must not open one that nobody could find again.
  if (meant === null) return isGraph ? draw(name, [], served, serving) : asJson(await noSession(name, serving));
  if (name === 'history')
    return asJson(await served.service.history(meant, connection.who, after, limit ?? limits.historyPage));
  const view = await served.service.look(meant, connection.who);
  if ('error' in view) {
    if (session === null && view.code === 'UnknownSession') connection.session = null;
    return asJson(view);
  }
  const { write } = offeredNames(serving.parts);
  return isGraph
    ? draw(name, activeStates(view.state), served, serving)
    : asJson(part(name, { ...view, ...offerNext(view, write) }));
}

function part(name: 'next' | 'state' | 'session', view: SessionView): Partial<SessionView> {
  const { session, seq, status } = view;
  if (name === 'session') return view;
  if (name === 'state') return { session, seq, status, state: view.state, state_digest: view.state_digest };
  const { valid_next_actions, next_action_schemas } = view;
  return { session, seq, status, valid_next_actions, next_action_schemas };
}

function draw(
  name: 'graph' | 'graph.mmd',
  active: readonly string[],
  served: ServedWorkflow,
  { parts, connection }: Serving,
): Json {
  const workflow = servedWorkflow(served);
  if (workflow === null) throw new ResourceNotFoundError(`recourse://${name}`);
  const drawn = { ...workflow, graph: listedGraph(workflow, served, connection.who) };
  return name === 'graph' ? parts.graph.json(drawn, active) : parts.graph.mermaid(drawn, active);
}

/** Without the edges of actions that are not listed to this agent. */
function listedGraph({ graph, actions }: Workflow, { isListed }: ServedWorkflow, who: Principal): Workflow['graph'] {
  const isShown = ({ action }: { readonly action: string | null }): boolean => {
    const entry = action === null ? undefined : actions.get(action);
    return entry === undefined || isListed === undefined || isListed(entry, who);
  };
  return { ...graph, edges: graph.edges.filter(isShown) };
}

function noSession(name: ResourceName, { parts, connection }: Serving): Promise<Reply> {
  const expected = `the session that an earlier reply named: read recourse://${name}/{session}`;
  return parts.unfit([{ path: '/session', expected, got: null }], connection.who);
}

const asJson = (value: object): Json => value as unknown as Json;

const maxDepth = 32;

/**
 * The ids of the active states, outermost first. Read from the state as the agent is shown it: a drawing must not tell
 * what the author hides in replies.
 */
export function activeStates(shown: unknown): readonly string[] {
  return isObject(shown) ? idsOf(shown['value'], '', 0) : [];
}

/** XState writes a name, or an object of names with what is active inside each. */
function idsOf(value: unknown, prefix: string, depth: number): readonly string[] {
  if (typeof value === 'string') return [prefix + value];
  if (!isObject(value) || depth >= maxDepth) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    prefix + name,
    ...idsOf(inside, `${prefix}${name}.`, depth + 1),
  ]);
}
