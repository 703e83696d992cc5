import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf, ruleCall, writtenAgent } from '../../../test/support/written-policy.ts';
import type { Json } from '../values/json.ts';
import { compilePolicy } from './compile-policy.ts';
import type { PolicyProblem, ToolShape } from './policy.ts';

const compile = (rules: readonly string[], tools: readonly ToolShape[] | null) =>
  compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:1', agents: [writtenAgent(rules)] }, tools);

function problemsOf(rules: readonly string[], tools: readonly ToolShape[]): readonly PolicyProblem[] {
  const compiled = compile(rules, tools);
  return compiled.ok ? [] : compiled.problems;
}

const call = ruleCall('pay/out', {
  tool: { name: 'pay/out', effect: 'plain', reach: 'network', annotations: { readOnlyHint: false } },
  args: { when: '2026-12-31T23:59:59Z', tags: ['vip'] },
  principal: { tenant: 'acme', agent: 'clerk' },
  session: { id: null, seq: 3, workflow: null },
  host: 'api.example.com',
  nowMs: 1_798_761_600_000, // 2027-01-01T00:00:00Z, a Friday
});

const conditions: readonly (readonly [string, boolean])[] = [
  ['agent.name == "clerk" && principal.tenant == "acme" && principal.agent == agent.name', true],
  ['session.seq == 3 && session.id == null', true],
  ['tool.effect == "plain" && tool.reach == "network" && tool.name.startsWith("pay/")', true],
  ['tool.annotations.readOnlyHint == false', true],
  ['has(tool.annotations.destructiveHint)', false],
  ['model == null || model.startsWith("gpt")', true],
  ['host.endsWith(".example.com")', true],
  ['state == null', true],
  ['now < timestamp("2027-01-01T00:00:00Z")', false],
  ['now >= timestamp("2027-01-01T01:00:00+01:00")', true],
  ['now.getHours() == 0 && now.getDayOfWeek() == 5 && now.getFullYear() == 2027', true],
  ['args.when != "" && timestamp(args.when) < now', true],
  ['args.tags.exists(t, t == "vip")', true],
];

for (const [when, held] of conditions)
  test(`${when} is ${held}`, () => {
    const policy = policyOf([writtenAgent([`permit ** if ${when}`])]).agents.get('clerk');
    const judged = policy?.judge(call) ?? assert.fail();
    assert.deepEqual([judged.by, judged.problem], [held ? 'rule' : 'default', null]);
  });

const schema = (properties: Json, additionalProperties?: boolean): Json => ({
  type: 'object',
  properties,
  ...(additionalProperties === undefined ? {} : { additionalProperties }),
});

const tools: readonly ToolShape[] = [
  {
    name: 'pay/out',
    inputSchema: schema(
      {
        amount: { type: 'number' },
        to: { type: 'string' },
        card: schema({ number: { type: 'string' } }, false),
        tags: { type: 'array' },
        note: { type: ['string', 'null'] },
      },
      false,
    ),
  },
  { name: 'pay/list', inputSchema: schema({ limit: { type: 'integer' } }, false) },
  { name: 'mail/send', inputSchema: schema({ to: { type: 'array' }, subject: { type: 'string' } }) },
  { name: 'mail/any', inputSchema: null },
  { name: 'box/put', inputSchema: schema({ to: { type: 'array' } }) },
];

const typed: readonly (readonly [what: string, match: string, when: string, problem: RegExp | null])[] = [
  ['a field that is there', 'pay/out', 'args.amount < 100', null],
  ['a misspelt field', 'pay/out', 'args.amuont < 100', /no field amuont; did you mean amount/],
  ['a misspelt field by its key', 'pay/out', 'args["amuont"] < 100', /no field amuont/],
  ['a misspelt field inside', 'pay/out', 'args.card.numbr == "1"', /no field numbr; did you mean number/],
  ['a misspelt field beside a look at the whole', 'pay/out', '"to" in args && args.amuont > 1', /no field amuont/],
  ['types that do not fit', 'pay/out', 'args.to > 5', /no such overload: string > int/],
  ['a text asked like a number', 'pay/out', 'args.amount.startsWith("1")', /no matching overload/],
  ['a field that may be of two sorts', 'pay/out', 'args.note == null || args.note.startsWith("x")', null],
  ['a list searched', 'pay/out', '"vip" in args.tags', null],
  ['a field of one of two closed tools', 'pay/*', 'args.amount < 100', /pay\/list has no argument amount: ask has\(/],
  ['the same, asked for', 'pay/*', 'has(args.amount) && args.amount < 100', null],
  ['the same, searched for', 'pay/*', '"amount" in args && args.amount < 100', null],
  ['the same, of no tool', 'pay/*', 'has(args.amount) && args.amuont < 100', /no field amuont/],
  ['a field that an open tool names', 'mail/send', 'args.subject.startsWith("x")', null],
  ['a field that an open tool does not name', 'mail/send', 'args.subjct.startsWith("x")', /did you mean subject/],
  ['tools with a field of two sorts', '*/*ut', 'args.to == "x" || "x" in args.to', null],
  ['a field of one of the tools, another of them open', '*/*ut', 'args.amount > 1', null],
  ['a field of none of them', '*/*ut', 'args.amuont > 1', /did you mean amount/],
  ['a tool of which nothing is known', 'mail/any', 'args.whatever > 1', null],
  ['tools of which one is not known', 'mail/*', 'args.whatever > 1', null],
  ['a tool that does not exist', 'other/thing', 'args.whatever > 1', null],
  ['a misspelt field of the session', '**', 'session.sequence > 1', /no field sequence/],
  ['a misspelt field of the tool', '**', 'tool.nmae == "x"', /no field nmae; did you mean name/],
  ['a time compared with a text', '**', 'now < "2027"', /no such overload: timestamp < string/],
  ['a time without an offset', '**', 'now < timestamp("2027-01-01T00:00:00")', /with its offset/],
  ['a time zone', '**', 'now.getHours("Europe/Berlin") > 8', /always in UTC/],
  ['what is no condition', 'pay/out', 'args', /must give a true or false, and gives a value of type map/],
  ['a text in place of a condition', 'pay/out', 'args.to', /gives a value of type string/],
];

for (const [what, match, when, problem] of typed)
  test(`${what} is ${problem === null ? 'accepted' : 'told'} when the policy is compiled`, () => {
    const [found, ...more] = problemsOf([`permit ${match} if ${when}`], tools);
    if (problem === null) return assert.equal(found, undefined, found?.message);
    assert.deepEqual(more, []);
    assert.match(found?.message ?? '', problem);
    assert.ok(found?.field === 'when' && found.rule === 0);
  });

test('what could not be checked is told once', () => {
  const warningsFor = (rules: readonly string[], known: readonly ToolShape[] | null) => {
    const compiled = compile(rules, known);
    return compiled.ok ? compiled.warnings.map(({ message }) => message) : assert.fail();
  };
  const both = ['permit pay/* if args.limit > 1', 'permit mail/* if args.x > 1'];
  assert.equal(warningsFor(both, null).length, 1);
  assert.match(warningsFor(both, null)[0] ?? '', /dynamic, because there is no recourse\.lock/);
  assert.match(warningsFor(['permit mail/* if args.x > 1'], tools)[0] ?? '', /of mail\/any are checked/);
  assert.deepEqual(warningsFor(['permit pay/list if args.limit > 1'], tools), []);
  assert.deepEqual(warningsFor(['permit ** if session.seq > 1'], null), []);
  assert.deepEqual(warningsFor(['permit mail/* if session.seq > 1'], tools), []);
});
