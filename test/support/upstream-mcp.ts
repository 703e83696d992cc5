/** Opens MCP upstreams for a test and closes them with it; builds attempts; knows where the real servers are. */
import { attemptOf } from '../../src/extension/proves/attempt-of.ts';
import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type Json, isObject } from '../../src/core/values/json.ts';
import type { Failure, UpstreamResult } from '../../src/ports/upstream.ts';
import type { McpUpstreamConfig } from '../../src/adapters/upstream-mcp/mcp-config.ts';
import {
  createMcpUpstreams,
  type McpUpstreams,
  type McpUpstreamsOptions,
} from '../../src/adapters/upstream-mcp/mcp-upstreams.ts';
import { eventually } from './eventually.ts';
import type { UpstreamStatus } from '../../src/adapters/upstream-mcp/server-link.ts';

const childProgram = path.join(import.meta.dirname, 'upstream-child.ts');
const packages = path.join(import.meta.dirname, '../../node_modules/@modelcontextprotocol');

export const never = new AbortController().signal;

export type ServerOverrides = Partial<Omit<McpUpstreamConfig, 'name' | 'connect'>>;

function server(name: string, connect: McpUpstreamConfig['connect'], more: ServerOverrides = {}): McpUpstreamConfig {
  return { name, connect, timeoutMs: null, trustAnnotations: false, rules: [], ...more };
}

export function stdioServer(name: string, args: readonly string[], more?: ServerOverrides): McpUpstreamConfig {
  return server(name, { kind: 'stdio', command: process.execPath, args, env: {}, cwd: null }, more);
}

export function httpServer(name: string, url: string, headers = {}, more?: ServerOverrides): McpUpstreamConfig {
  return server(name, { kind: 'http', url, headers }, more);
}

/** The misbehaving one. */
export function ownServer(name: string, mode = 'good', option = '', more?: ServerOverrides): McpUpstreamConfig {
  return stdioServer(name, [childProgram, mode, option], more);
}

export function realProgram(name: 'everything' | 'filesystem' | 'memory'): string {
  return path.join(packages, `server-${name}`, 'dist', 'index.js');
}

export async function openUpstreams(
  t: TestContext,
  configs: readonly McpUpstreamConfig[],
  options: McpUpstreamsOptions = {},
): Promise<McpUpstreams> {
  const upstreams = createMcpUpstreams(configs, options);
  t.after(() => upstreams.close());
  await upstreams.ready(60_000);
  return upstreams;
}

/** A busy machine may need a while for what is only the setting of a test. */
export async function connected(upstreams: McpUpstreams, name: string): Promise<void> {
  await eventually(`a connection to ${name}`, async () => statusOf(upstreams, name).state === 'connected');
}

export { attemptOf };

export function call(upstreams: McpUpstreams, tool: string, args: Json = {}, signal = never): Promise<UpstreamResult> {
  return upstreams.upstream.invoke(attemptOf(tool, args), signal);
}

export function outputOf(result: UpstreamResult): Record<string, unknown> {
  assert.equal(result.kind, 'returned', JSON.stringify(result));
  const output = result.kind === 'returned' ? result.output : null;
  assert.ok(isObject(output));
  return output;
}

/** The JSON that the own server puts into its text. */
export function saidBy(result: UpstreamResult): unknown {
  const [first] = outputOf(result)['content'] as readonly { readonly text: string }[];
  return JSON.parse(first?.text ?? 'null');
}

export function failureOf(result: UpstreamResult): Failure {
  assert.equal(result.kind, 'failed', JSON.stringify(result).slice(0, 1_000));
  if (result.kind !== 'failed') throw new Error('unreachable');
  return result.failure;
}

export function statusOf(upstreams: McpUpstreams, name: string): UpstreamStatus {
  const found = upstreams.status().find((status) => status.name === name);
  assert.ok(found !== undefined, `no server ${name}`);
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
