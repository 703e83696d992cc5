/** The tool that undoes must exist and do something, as far as that is known without its server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../config/read-config.ts';
import { checkReversals } from './check-reversals.ts';

const reverse = (tool: string, args = "{ id: 'result.id' }") =>
  `reverse: { tool: ${tool}, args: ${args}, window: 30d }`;

function problemsOf(rules: string): readonly string[] {
  const text = `tools:\n  pay:\n    mcp: { command: pay }\n    tools:\n${rules}      find: { effect: pure }\n`;
  const found = readConfig(text, 'f', { lock: null });
  checkReversals(found.config, found.tell);
  return found.allProblems().map(({ line, message, fix }) => `${line} ${message}; ${fix}`);
}

const checked: readonly (readonly [what: string, rules: string, told: RegExp | null])[] = [
  ['a reversal that fits', `      charge: { ${reverse('pay/refund')} }\n`, null],
  [
    'a server that is not there',
    `      charge: { ${reverse('pat/refund')} }\n`,
    /^5 reverse names 'pat\/refund', and there is no server 'pat'; did you mean pay/,
  ],
  [
    'a read as the reversal',
    `      charge: { ${reverse('pay/find')} }\n`,
    /^5 reverse names 'pay\/find', which is pure/,
  ],
  [
    'a tool that undoes itself',
    `      charge: { ${reverse('pay/charge')} }\n`,
    /^5 reverse names 'pay\/charge', which this rule is about/,
  ],
  [
    'a read that is to be undone',
    `      charge: { effect: pure, ${reverse('pay/refund')} }\n`,
    /^5 a read has nothing to undo; leave reverse out/,
  ],
  [
    'an argument that is no expression',
    `      charge: { ${reverse('pay/refund', "{ id: 'result.' }")} }\n`,
    /^5 this expression is wrong: .*; write an expression over args and result/,
  ],
  [
    'an argument over something else',
    `      charge: { ${reverse('pay/refund', "{ id: 'call.id' }")} }\n`,
    /^5 this expression is wrong: /,
  ],
];

for (const [what, rules, told] of checked)
  test(what, () => {
    const problems = problemsOf(rules);
    assert.equal(problems.length, told === null ? 0 : 1, problems.join('\n'));
    if (told !== null) assert.match(problems[0] ?? '', told);
  });
