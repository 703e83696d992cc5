/**
 * A real gateway on a real file behind the real HTTP door: real keys, a real server, real sockets. Every answer that
 * comes through `ask` is held against the OpenAPI document. When the test is over everything is closed and the journal
 * is verified.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import type { SqliteKeyring } from '../../../src/adapters/keyring-sqlite/sqlite-keyring.ts';
import { createAuthenticator } from '../../../src/compose/state/authenticate.ts';
import { createConsoleSessions } from '../../../src/compose/console/console-sessions.ts';
import { createGovernance, type GovernanceParts } from '../../../src/compose/serve/governance.ts';
import { noExtensions } from '../../../src/compose/extensions/extension-set.ts';
import { openKeysOf } from '../../../src/compose/state/key-files.ts';
import { openHttpDoor } from '../../../src/compose/serve/open-http-door.ts';
import { emptyConfig } from '../../../src/config/config.ts';
import type { KeyRole } from '../../../src/core/call/identity.ts';
import type { Limits } from '../../../src/core/limits.ts';
import type { ModelProvider } from '../../../src/core/model/model-provider.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { HttpDoor } from '../../../src/doors/http/http-door.ts';
import type { HttpDoorOptions } from '../../../src/doors/http/parts.ts';
import type { MountedWorkflow, OperatorNotice, Tool } from '../../../src/index.ts';
import { openGateway } from '../../../src/main.ts';
import type { Shell } from '../../../src/shell/shell.ts';
import { checkFile } from '../../support/read-journal.ts';
import { checkAnswer } from './check-answer.ts';

export interface HttpOptions {
  /** A store that is there already; whoever made it verifies and removes it. */
  readonly file?: string;
  readonly tools?: readonly Tool[];
  readonly workflows?: readonly MountedWorkflow[];
  readonly models?: readonly ModelProvider[];
  readonly limits?: Partial<Limits>;
  readonly door?: Partial<HttpDoorOptions>;
  readonly load?: GovernanceParts['load'];
  readonly policy?: Policy;
  /** A journal with more in it than the check of a test is worth. */
  readonly unverified?: boolean;
}

export interface Sent {
  /** Null for none. */
  readonly key?: string | null;
  readonly body?: unknown;
  /** Instead of `body`: as it is. */
  readonly bytes?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed, where it is JSON. */
  readonly body: Record<string, unknown>;
}

export interface OpenedHttp {
  readonly url: URL;
  readonly server: Server;
  readonly door: HttpDoor;
  readonly shell: Shell;
  readonly keyring: SqliteKeyring;
  readonly notices: readonly OperatorNotice[];
  /** The key of an agent `bot` of the tenant `default`, and of people of the same tenant. */
  readonly keys: Readonly<Record<KeyRole, string>>;
  makeKey(tenant: string, role: KeyRole, name: string): Promise<string>;
  ask(method: string, target: string, sent?: Sent): Promise<Answered>;
  /** The same, for an agent's call of a tool. */
  call(body: unknown, sent?: Omit<Sent, 'body'>): Promise<Answered>;
}

/** What closes things when it is over; a soak has another one than node:test. */
export interface Closing {
  after(close: () => Promise<void>): void;
}

/** One for all tests of a suite. */
export function openOnce<Opened>(open: (t: Closing) => Promise<Opened>): () => Opened {
  const ends: (() => Promise<void>)[] = [];
  let opened: Opened | null = null;
  before(async () => void (opened = await open({ after: (end) => void ends.push(end) })));
  after(async () => {
    for (const end of ends) await end();
  });
  return () => {
    assert.ok(opened !== null, 'it is open');
    return opened;
  };
}

export async function openHttp(t: Closing, options: HttpOptions = {}): Promise<OpenedHttp> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-http-'));
  const file = options.file ?? path.join(folder, 'recourse.db');
  const notices: OperatorNotice[] = [];
  const { tools = [], workflows = [], models = [], limits = {}, policy = null } = options;
  const nothing = { file: null, config: emptyConfig, apis: [], models: [], extensions: noExtensions };
  const project = { ...nothing, workflows, policy, warnings: [], files: [] };
  const load = options.load ?? (async () => ({ ok: true, project }) as const);
  const loaded = await load();
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const governance = createGovernance(loaded.project, { load, errorsIn: async () => [], record: async () => true });
  const opened = await openGateway({
    tools,
    workflows,
    models,
    limits,
    file,
    onNotice: (notice) => void notices.push(notice),
    policy: () => governance.current(),
  });
  const keys = await openKeysOf(file);
  assert.ok(keys.kind === 'opened', JSON.stringify(keys));
  const { keyring } = keys;
  const nowMs = () => Date.now();
  const door = openHttpDoor(
    {
      version: '0.0.0',
      hosts: ['localhost', '127.0.0.1', '[::1]'],
      startedAtMs: nowMs(),
      nowMs,
      authenticate: createAuthenticator({ keyring, nowMs, openAs: null }),
      console: createConsoleSessions({ keyring, nowMs }),
      ...(options.door === undefined ? {} : { options: options.door }),
    },
    { current: () => opened, close: () => opened.gateway.close() },
    governance,
  );
  const server = await listen(door);
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(async () => {
    await door.close({ drainMs: 0 });
    server.closeAllConnections();
    server.close();
    await opened.gateway.close({ drain_seconds: 0 });
    await keyring.close();
    if (options.unverified !== true && options.file === undefined) await checkFile(file);
    rmSync(folder, { recursive: true, force: true });
  });
  const makeKey = async (tenant: string, role: KeyRole, name: string) =>
    (await keyring.add({ tenant, role, name, createdBy: 'test', expiresAtMs: null }, nowMs())).key;
  const made = {
    agent: await makeKey('default', 'agent', 'bot'),
    viewer: await makeKey('default', 'viewer', 'vera'),
    approver: await makeKey('default', 'approver', 'abel'),
    admin: await makeKey('default', 'admin', 'ada'),
  };
  const ask: OpenedHttp['ask'] = async (method, target, sent = {}) => {
    const answered = await send(url, method, target, { key: made.agent, ...sent });
    checkAnswer(method, target, answered);
    return answered;
  };
  const call: OpenedHttp['call'] = (body, sent = {}) => ask('POST', '/v1/calls', { ...sent, body });
  return { url, server, door, shell: opened.shell, keyring, notices, keys: made, makeKey, ask, call };
}

/** As the composition root listens: what is no HTTP, and what nobody has, gets the door's words too. */
async function listen(door: HttpDoor): Promise<Server> {
  const server = createServer({ requireHostHeader: false, maxHeaderSize: 16 << 10 });
  const take = (...[request, response]: Parameters<HttpDoor['handle']>) => {
    if (!door.handle(request, response)) door.handleUnknown(request, response);
  };
  server.on('request', take);
  door.guard(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Below fetch, which sets and checks headers of its own. */
export function send(url: URL, method: string, target: string, sent: Sent): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const bytes = sent.bytes ?? (sent.body === undefined ? null : JSON.stringify(sent.body));
  const headers = {
    ...(sent.key === null || sent.key === undefined ? {} : { authorization: `Bearer ${sent.key}` }),
    ...(bytes === null
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(bytes)) }),
    ...sent.headers,
  };
  const { hostname, port } = url;
  const request = httpRequest({ hostname, port, method, path: target, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { statusCode: status = 0, headers: got } = response;
      resolve({ status, headers: got, text, body: parsed(text) });
    });
  });
  request.on('error', reject);
  request.end(bytes ?? undefined);
  return promise;
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
