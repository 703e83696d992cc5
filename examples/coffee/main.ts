/**
 * A coffee bar over MCP. An agent that knows nothing of its rules walks into all five refusals of a step and finds its
 * way from `valid_next_actions` alone; once on the bar in TypeScript, once on the same bar in YAML. Exits 1 if a reply
 * is not the one that was promised, or if the two bars differ.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { orderCoffee, type Reply } from './hasty-agent.ts';

const next = ['add_modifier', 'pay', 'cancel'];

/**
 * What each reply must say, field by field: the agent's whole walk. A body's error has its own name, an MCP tool's has
 * none.
 */
const promisedWith = (errorType: string): readonly object[] => [
  {
    error: 'invalid_transition',
    requested: 'pay',
    valid_next_actions: ['take_order'],
    message: "action 'pay' is not reachable from current state. Valid actions now: ['take_order'].",
  },
  {
    error: 'unknown_action',
    requested: 'tako_order',
    known_actions: ['take_order', 'add_modifier', 'pay', 'fulfill', 'cancel'],
    valid_next_actions: ['take_order'],
  },
  {
    error: 'action_timeout',
    requested: 'take_order',
    timeout_seconds: 1,
    message: "action 'take_order' exceeded its 1s timeout.",
    valid_next_actions: ['take_order'],
  },
  { action: 'take_order', valid_next_actions: next },
  {
    error: 'validation_failed',
    requested: 'add_modifier',
    reason: 'modifier must be one of: oat, soy, almond',
    details: { field: 'modifier', got: 'moon' },
    valid_next_actions: next,
  },
  {
    error: 'action_error',
    requested: 'add_modifier',
    error_type: errorType,
    error_message: 'almond milk is out; there is oat and soy',
    valid_next_actions: next,
  },
  { action: 'add_modifier', valid_next_actions: next },
  { action: 'pay', result: { paid: 4 }, valid_next_actions: ['fulfill'] },
  { action: 'fulfill', result: { served: 'latte' }, done: true, valid_next_actions: [] },
];

const folder = mkdtempSync(path.join(tmpdir(), 'coffee-'));
const recourse = path.join(import.meta.dirname, '../../bin/recourse.js');
/** The child finds `node` where this process was found. */
const env = { PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}` };

/** Starts the server as any MCP client would, orders, and lets it end. */
async function orderAt(workflow: string): Promise<readonly Reply[]> {
  const store = path.join(folder, `${path.basename(workflow)}.db`);
  const client = new Client({ name: 'hasty-agent', version: '1.0.0' });
  const args = [recourse, 'serve', workflow, '--file', store];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: import.meta.dirname, env, stderr: 'inherit' }),
  );
  const replies = await orderCoffee(async (action, inputs) => {
    const { structuredContent } = await client.callTool({ name: 'step', arguments: { action, inputs } });
    const reply = structuredContent as unknown as Reply;
    console.log(`  ${tell(reply)}`);
    return reply;
  });
  await client.close();
  return replies;
}

function tell(reply: Reply): string {
  const then = reply.done === true ? 'the end' : `next: ${reply.valid_next_actions.join(', ')}`;
  if (reply.error === undefined) return `✓ ${reply.action} → ${then}`;
  const why = reply['reason'] ?? reply['message'];
  return `✗ ${reply.requested}: ${reply.error} (${String(why)}) → ${then}`;
}

function asPromised(replies: readonly Reply[], promised: readonly object[]): boolean {
  if (replies.length !== promised.length) return false;
  return promised.every((fields, at) =>
    Object.entries(fields).every(([name, value]) => {
      const isSaid = isDeepStrictEqual(replies[at]?.[name], value);
      if (!isSaid) console.log(`  step ${at + 1}: ${name} is ${JSON.stringify(replies[at]?.[name])}`);
      return isSaid;
    }),
  );
}

/** What both bars must agree on: how each step ended, where it led, and what came next. */
const essence = (replies: readonly Reply[]) =>
  replies.map(({ error, requested, action, state, effect, valid_next_actions, done }) => {
    return { error, requested, action, state, effect, valid_next_actions, done };
  });

console.log('the bar in TypeScript, coffee.workflow.ts:');
const typed = await orderAt('./coffee.workflow.ts');
console.log('\nthe same bar in YAML, recourse.yaml:');
const written = await orderAt('coffee');
rmSync(folder, { recursive: true, force: true });

const isKept = [
  asPromised(typed, promisedWith('OutOfStock')),
  asPromised(written, promisedWith('ToolError')),
  isDeepStrictEqual(essence(typed), essence(written)),
].every(Boolean);
console.log(isKept ? '\nfive refusals, one coffee, twice the same.' : '\nthe promise was broken.');
process.exitCode = isKept ? 0 : 1;
