/**
 * The door for agents that speak MCP, revisions 2025-11-25 and 2026-07-28. Turns requests into calls and replies into
 * results. Its handlers are raw, so that the SDK neither answers before the gateway nor drops fields that it does not
 * know.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type jsonSchemaValidator,
  type Result,
  type Server,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../core/call/call.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { callTool } from './call/call-tool.ts';
import { type Connection, connectionIn, createConnection } from './connection.ts';
import { isToolOf, offer, toolsOf } from './door-names.ts';
import { DoorServer } from './door-server.ts';
import { type Exchange, exchangeOf } from './call/exchange.ts';
import { listTools } from './list-tools.ts';
import { ownTools } from './own-tools.ts';
import { createParkedCalls } from './call/parked-calls.ts';
import { defaultMcpDoorLimits, type McpDoorParts, type Notify } from './parts.ts';
import { listResources, listTemplates, readResource } from './resources.ts';
import { createSealedStates } from './call/sealed-states.ts';
import type { Serving } from './serving.ts';
import { createGapWatch, type GapWatch, taskMethod } from './watch-gaps.ts';

export interface McpDoor {
  readonly notify: Notify;
  /** The principal of requests that are not authenticated. */
  readonly who: Principal;
  readonly info: { readonly name: string; readonly version: string };
  /** A connection: what is remembered of one client. */
  connect(options?: { readonly stateless?: boolean; readonly who?: Principal | undefined }): Connection;
  /** An SDK server for one connection, or for one stateless request. */
  createServer(connection: Connection): Server;
  /** Calls a tool without an SDK server. */
  call(params: unknown, exchange: Exchange, connection: Connection): Promise<Result>;
  /** Reports messages that are not calls. */
  readonly gaps: GapWatch;
  /** The client is gone: its waiting calls have nobody to answer them. */
  release(connection: Connection): void;
  /** Notifies every client that has listed the tools, if its transport can. */
  toolsChanged(): void;
  /** Ends every wait for a person. */
  stopWaiting(): void;
  close(): void;
}

/** Without one the SDK makes a validator for each server, and we never let it validate. */
const noValidator = {
  getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }),
} as jsonSchemaValidator;

/** `workflows` are served beside the tools of `parts`, each under its own name. */
export function createMcpDoor(parts: McpDoorParts, workflows: readonly McpDoorParts[] = []): McpDoor {
  const limits = { ...defaultMcpDoorLimits, ...parts.limits };
  const parked = createParkedCalls(limits);
  const states = parts.approvals === undefined ? null : createSealedStates(parts.approvals, limits);
  const gaps = createGapWatch(parts);
  const closing = new AbortController();
  const servingOf = (connection: Connection): Serving => {
    return { parts, limits, parked, states, closing: closing.signal, connection, workflows };
  };
  // The tools of a workflow do not change while it is served.
  const capabilities = parts.workflow === null ? { tools: { listChanged: true } } : { tools: {}, resources: {} };
  const listening = new Map<Connection, Server>();
  const instructions = [parts, ...workflows].flatMap((each) => instructionsOf(each) ?? []).join('\n') || null;
  const info = { name: parts.name, version: parts.version };
  return {
    notify: parts.notify,
    who: parts.who,
    info,
    connect: ({ stateless = false, who = parts.who } = {}) => createConnection(who, stateless),
    createServer(connection) {
      const options = {
        capabilities,
        jsonSchemaValidator: noValidator,
        ...(instructions === null ? {} : { instructions }),
      };
      const beside = (method: string): Promise<readonly Notice[]> =>
        gaps.report('unknown_method', method, connection.who);
      const server = new DoorServer(info, options, beside);
      const serving = servingOf(connection);
      if (!connection.stateless) listening.set(connection, server);
      // Other notifications were checked where they came in.
      server.fallbackNotificationHandler = async ({ method, params }) => {
        if (method === taskMethod) await reportTask(params, serving);
      };
      server.fallbackRequestHandler = (request, context) =>
        answerSafely(request.method, request.params, () => exchangeOf(context, server, connection.writes), serving);
      return server;
    },
    call: (params, exchange, connection) => answerSafely('tools/call', params, () => exchange, servingOf(connection)),
    gaps,
    release(connection) {
      listening.delete(connection);
      connection.presence.close();
      connection.writes.close();
      for (const each of [connection, ...connection.beside.values()]) parked.leaveOf(each);
    },
    toolsChanged() {
      for (const [{ hasListed }, server] of listening)
        // Ignored: a client that is gone, or has no stream, lists them when it returns.
        if (hasListed && parts.workflow === null) void server.sendToolListChanged().catch(() => undefined);
    },
    stopWaiting: () => closing.abort(),
    close() {
      closing.abort();
      parked.close();
    },
  };
}

/** A bug is reported to the operator; the client gets no details. */
async function answerSafely(
  method: string,
  params: unknown,
  exchange: () => Exchange,
  serving: Serving,
): Promise<Result> {
  try {
    return await answer(method, params, exchange, serving);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    serving.parts.notify({
      kind: 'suppressed',
      what: `a bug in the MCP door (${method})`,
      reason: String(error),
    });
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'the gateway failed by its own fault');
  }
}

async function answer(method: string, params: unknown, exchange: () => Exchange, serving: Serving): Promise<Result> {
  const { workflow } = serving.parts;
  switch (method) {
    case 'tools/call':
      return callTool(params, exchange(), servingFor(params, serving));
    case 'tools/list':
      serving.connection.hasListed = true;
      return { tools: listAll(serving) };
    case taskMethod:
      return asResult(offer(await reportTask(params, serving), serving.parts));
    // Common clients ask every server for prompts: an empty list, and no gap on record.
    case 'prompts/list':
      return { prompts: [] };
    case 'resources/list':
      return { resources: workflow === null ? [] : listResources() };
    case 'resources/templates/list':
      return { resourceTemplates: workflow === null ? [] : listTemplates() };
    case 'resources/read':
      if (workflow !== null) return readResource(params, workflow, serving);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    default:
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  }
}

/** The serving of the workflow that has the called tool, or the door's own. */
function servingFor(params: unknown, serving: Serving): Serving {
  const name = isObject(params) ? params['name'] : null;
  const parts = typeof name === 'string' ? serving.workflows.find((each) => isToolOf(name, each)) : undefined;
  const workflow = parts?.workflow?.name;
  if (parts === undefined || workflow === undefined) return serving;
  return { ...serving, parts, connection: connectionIn(workflow, serving.connection) };
}

function listAll({ parts, workflows, connection: { who } }: Serving): readonly JsonObject[] {
  const listed = new Map(
    [parts, ...workflows].flatMap((each) => listTools(each, who)).map((tool) => [tool['name'], tool]),
  );
  return [...listed.values()];
}

/** Recorded in any case: a notification gets no answer. */
function reportTask(params: unknown, { parts, connection }: Serving): Promise<Reply> {
  const callId = isObject(params) ? params['call_id'] : undefined;
  if (parts.reportTask !== undefined) return parts.reportTask(callId, connection.who);
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
}

const asResult = (reply: Reply): Result => reply as unknown as Result;

function instructionsOf({ workflow, mode }: McpDoorParts): string | null {
  if (workflow === null) return null;
  const write = workflow.isBeside === true ? toolsOf({ workflow, mode }).write : (own: string) => own;
  const tool = mode === 'step' ? `the tool \`${write('step')}\`` : 'the tool of each action';
  const walk = `The workflow '${workflow.name}' is walked with ${tool}. Every reply carries valid_next_actions: pick one of them.`;
  if (workflow.isBeside !== true) return `${walk} recourse://next says them at any time.`;
  // An action of that name replaces ours.
  return workflow.actions.includes(ownTools.next) ? walk : `${walk} \`${write(ownTools.next)}\` says them at any time.`;
}
