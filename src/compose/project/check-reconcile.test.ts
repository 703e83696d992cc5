/** The read that settles a doubt must exist and have no effect, as far as that is known without its server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeLock } from '../../config/lock.ts';
import { readConfig } from '../../config/read-config.ts';
import { checkReconcile } from './check-reconcile.ts';

const config = (read: string, more: string) => `tools:
  pay:
    mcp: { command: pay }
${more}    tools:
      refund: { reconcile: { tool: ${read}, args: '{}', happened: 'true' } }
      find: { effect: pure }
`;

const one = { description: null, inputSchema: { type: 'object' }, outputSchema: null, sha256: '0'.repeat(64) };
const says = { readOnlyHint: true };
const tools = new Map(['refund', 'find', 'look'].map((name) => [name, { ...one, annotations: says }]));
const lock = { file: 'recourse.lock', text: writeLock({ version: 1, servers: new Map([['pay', tools]]) }) };

function problemsOf(read: string, isPinned: boolean, more = ''): readonly string[] {
  const found = readConfig(config(read, more), 'f', { lock: isPinned ? lock : null });
  checkReconcile(found.config, found.tell);
  return found.allProblems().map(({ line, message, fix }) => `${line} ${message}; ${fix}`);
}

const trust = '    annotations: trust\n';
const atLine = (more: string) => (more === '' ? 5 : 6);

const checked: readonly (readonly [read: string, pinned: boolean, more: string, told: string | null])[] = [
  ['pay/find', true, '', null],
  ['pay/find', false, '', null],
  ['pay/look', true, trust, null],
  ['pay/look', false, trust, null],
  ['pay/look', true, '', "reconcile names 'pay/look', which is plain: a read that settles a doubt must have no effect"],
  ['pay/look', false, '', "reconcile names 'pay/look', which is plain"],
  ['pay/fnd', true, '', "reconcile names 'pay/fnd', and there is no such tool; did you mean pay/find?"],
  ['pat/find', true, '', "reconcile names 'pat/find', and there is no server 'pat'; did you mean pay?"],
  ['pat/find', false, '', "reconcile names 'pat/find', and there is no server 'pat'"],
];

for (const [read, isPinned, more, told] of checked)
  test(`${read}, ${isPinned ? 'pinned' : 'not pinned'}${more === '' ? '' : ', trusted'}: ${told ?? 'fine'}`, () => {
    const problems = problemsOf(read, isPinned, more);
    assert.equal(problems.length, told === null ? 0 : 1, problems.join('\n'));
    if (told !== null) assert.ok(problems[0]?.startsWith(`${atLine(more)} ${told}`), problems[0]);
  });
