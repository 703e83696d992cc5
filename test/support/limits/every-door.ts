/** The same call at each door of a real gateway, and what each of them tells. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient, httpTransport, ToolDeniedError } from '../../../src/client/index.ts';
import type { Notice } from '../../../src/core/call/reply.ts';
import { send } from '../../e2e/http/open-http.ts';
import type { GovernedUp } from '../governed-up.ts';
import { connectHttp, revisions } from '../mcp-connect.ts';

export interface AskedFor {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export type Told = Readonly<Record<string, unknown>>;

/** The members that seed 002 prints. */
export function members(told: Told): Told {
  const { code, rule_ref, budget_id, provider, human_message, resolution } = told;
  const all = { code, rule_ref, budget_id, provider, human_message, resolution };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A refusal is the structured content; the result of a server stays its own, with the reply in _meta. */
function replyIn({ structuredContent, _meta: meta, content }: Told): Told {
  const reply = (structuredContent ?? (meta as Told)['recourse/reply']) as Told;
  // A model that sees only text reads it there.
  for (const { human_message: said } of (reply['notices'] ?? []) as readonly Notice[])
    assert.ok(JSON.stringify(content).includes(said), JSON.stringify(content));
  return reply;
}

/** Asks the same at each door; the first answer is the one of HTTP. */
export async function atEveryDoor(t: TestContext, up: GovernedUp, key: string, body: AskedFor) {
  const http = await send(new URL(up.url), 'POST', '/v1/calls', { key, body });
  const overMcp: Told[] = [];
  for (const revision of revisions) {
    const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), revision, { key });
    overMcp.push(replyIn(await client.callTool({ name: body.tool.replace('/', '__'), arguments: body.args })));
    await client.close();
  }
  const seen: unknown[] = [];
  const client = createClient({
    transport: httpTransport({ url: up.url, key }),
    maxWaits: 0,
    onReply: ({ notices }) => seen.push(notices),
  });
  const thrown: unknown = await client.call(body.tool, body.args).then(
    () => null,
    (error: unknown) => error,
  );
  return { http, told: [http.body, ...overMcp] as readonly Told[], thrown, notices: seen };
}

export function deniedIn(thrown: unknown): ToolDeniedError {
  assert.ok(thrown instanceof ToolDeniedError, String(thrown));
  return thrown;
}
