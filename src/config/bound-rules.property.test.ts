/**
 * What does an approval of a tool bind? Files are written twice: once more with other comments, lines, reasons, roles
 * and rules about other tools, which must change nothing; and once with one rule about the tool changed, which must.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { type GeneratorValue } from 'fast-check';
import { timesDrawn } from '../../test/support/times-drawn.ts';
import type { AgentPolicy, Policy } from '../core/policy/policy.ts';
import { compileConfigPolicy } from './compile-config-policy.ts';
import { readConfig } from './read-config.ts';

interface Drawn {
  readonly effect: string;
  readonly match: string;
  readonly when: string | null;
  readonly approvers: string | null;
  readonly needs: number;
  readonly expires: string;
  readonly onApprove: string;
  readonly client: boolean;
}

const tools = ['shop/pay', 'shop/get_x', 'files/read', 'x'];
const patterns = ['shop/*', 'shop/pay', '**', '*/read', 'x', '*', 'shop/get_*'];
const conditions = ['args.a < 5', "args.note == 'a // b  c'", 'args.a < 5 && args.b', 'args.list.size() > 3'];
const effects = ['permit', 'defer', 'deny'];

const aRule: fc.Arbitrary<Drawn> = fc.record({
  effect: fc.constantFrom('defer', ...effects),
  match: fc.constantFrom(...patterns),
  when: fc.option(fc.constantFrom(...conditions), { freq: 4 }),
  approvers: fc.option(fc.constantFrom('[r]', '[r, s]', '[s]')),
  needs: fc.constantFrom(1, 2),
  expires: fc.constantFrom('2h', '24h'),
  onApprove: fc.constantFrom('wait', 'run'),
  client: fc.boolean(),
});

function matches(pattern: string, tool: string): boolean {
  const parts = { '**': '.*', '*': '[^/]*' } as const;
  return new RegExp(`^${pattern.replace(/\*\*|\*/g, (stars) => parts[stars as keyof typeof parts])}$`).test(tool);
}

/** One rule in any layout; what it decides is the same in each. */
function writeRule(rule: Drawn, g: GeneratorValue): string {
  const { effect, match, when, approvers, needs, expires, onApprove, client } = rule;
  const among = <One>(choices: readonly One[]) => choices[g(fc.nat, choices.length - 1)] as One;
  const condition = (text: string) =>
    among([`when: ${text}`, `when: |\n          ${text}`, `when: >\n          ${text}\n\n`]);
  const parts = [
    `${effect}: "${match}"`,
    ...(when === null ? [] : [condition(when)]),
    ...among([[], ['reason: ask finance'], ['reason: because']]),
    ...(effect !== 'defer' ? [] : [`needs: ${needs}`, `expires: ${expires}`, `on_approve: ${onApprove}`]),
    ...(effect !== 'defer' || approvers === null ? [] : [`approvers: ${approvers}`]),
    ...(effect === 'defer' && client ? ['client_may_approve: true'] : []),
  ];
  const noise = among(['', '', '\n', '      # a comment: { x\n', '\n      # deny: everything\n\n']);
  const [first = '', ...rest] = g(fc.boolean) ? parts : parts.toReversed();
  return `${noise}      - ${first}\n${rest.map((part) => `        ${part}\n`).join('')}`;
}

function writeFile(rules: readonly Drawn[], people: string, g: GeneratorValue): string {
  const agents = `agents:\n  clerk:\n    default: deny\n    rules:\n${rules.map((rule) => writeRule(rule, g)).join('')}`;
  const roles = `roles: { r: [ann, ${people}], s: [bob, cyd] }\n`;
  return g(fc.boolean) ? `${agents}${roles}` : `# who\n${roles}\n${agents}`;
}

function load(text: string): { readonly policy: Policy; readonly clerk: AgentPolicy } {
  const read = readConfig(text, 'recourse.yaml', { env: {}, lock: null });
  const policy = compileConfigPolicy(read, null);
  assert.ok(policy !== null, `${JSON.stringify(read.allProblems())}\n${text}`);
  const clerk = policy.agents.get('clerk');
  assert.ok(clerk !== undefined);
  return { policy, clerk };
}

const someRules = fc.array(aRule, { minLength: 1, maxLength: 6 });
const options = { seed: 20_260_728, numRuns: timesDrawn(400, 170) };

test('comments, lines, reasons, roles and rules about other tools change nothing that an approval binds', () => {
  const count = { moved: 0, left: 0 };
  const property = fc.property(someRules, fc.constantFrom(...tools), fc.gen(), (rules, tool, g) => {
    const [own, others] = [true, false].map((is) => rules.filter(({ match }) => matches(match, tool) === is));
    // Its own rules keep their order; the others come before, between or behind, or are gone.
    const shuffled = [...(own ?? [])];
    for (const other of others ?? []) {
      if (g(fc.boolean)) shuffled.splice(g(fc.nat, shuffled.length), 0, other);
      else count.left += 1;
    }
    count.moved += shuffled.length > (own?.length ?? 0) ? 1 : 0;
    const [one, two] = [load(writeFile(rules, 'eve', g)), load(writeFile(shuffled, 'dan', g))];
    assert.equal(one.clerk.canonicalFor(tool), two.clerk.canonicalFor(tool));
    assert.notEqual(one.policy.canonical, two.policy.canonical, 'who has a role is part of the whole');
  });
  fc.assert(property, options);
  assert.ok(count.moved > 50 && count.left > 50, JSON.stringify(count));
});

test('only the order of people, comments and lines: the whole policy is the same as well', () => {
  const property = fc.property(someRules, fc.gen(), (rules, g) => {
    const plain = (text: string) => text.replace(/^ *reason: .*\n/gm, '').replace(/^( +- )reason: .*\n +/gm, '$1');
    const [one, two] = [writeFile(rules, 'eve', g), writeFile(rules, 'eve', g)].map(plain);
    const swapped = two?.replace('[ann, eve]', '[eve, ann]') ?? '';
    assert.equal(load(one ?? '').policy.canonical, load(swapped).policy.canonical);
  });
  fc.assert(property, options);
});

const changes: Readonly<Record<string, (rule: Drawn) => Drawn | null>> = {
  effect: (rule) => ({ ...rule, effect: rule.effect === 'deny' ? 'permit' : 'deny' }),
  condition: (rule) => ({ ...rule, when: rule.when === null ? 'args.a < 5' : rule.when.replace(/[53]|c(?=')/, '7') }),
  comment: (rule) => inString(rule, '// b', '// z'),
  gap: (rule) => inString(rule, 'b  c', 'b c'),
  approvers: (rule) => deferring(rule, { approvers: rule.approvers === '[r]' ? '[s]' : '[r]', needs: 1 }),
  needs: (rule) => deferring(rule, { needs: rule.needs === 1 ? 2 : 1 }),
  expires: (rule) => deferring(rule, { expires: rule.expires === '2h' ? '24h' : '2h' }),
  on_approve: (rule) => deferring(rule, { onApprove: rule.onApprove === 'run' ? 'wait' : 'run' }),
  client: (rule) => deferring(rule, { client: !rule.client }),
};

/** What looks like a comment or a gap is none inside a string. */
const inString = ({ when, ...rule }: Drawn, was: string, is: string): Drawn | null =>
  when?.includes(was) === true ? { ...rule, when: when.replace(was, is) } : null;

const deferring = (rule: Drawn, change: Partial<Drawn>): Drawn | null =>
  rule.effect === 'defer' ? { ...rule, ...change } : null;

for (const [name, change] of Object.entries(changes)) {
  test(`another ${name} of a rule that can decide about a tool changes what an approval of it binds`, () => {
    let changed = 0;
    const property = fc.property(someRules, fc.constantFrom(...tools), fc.nat(5), fc.gen(), (rules, tool, at, g) => {
      const own = rules.filter(({ match }) => matches(match, tool));
      const last = own.findIndex(({ when }) => when === null);
      // What stands behind a rule that always counts is never asked.
      const asked = last < 0 ? own : own.slice(0, last + 1);
      const rule = asked[at % asked.length];
      const other = rule === undefined ? null : change(rule);
      if (rule === undefined || other === null) return;
      changed += 1;
      const next = rules.map((each) => (each === rule ? other : each));
      const [one, two] = [rules, next].map((each) => load(writeFile(each, 'eve', g)).clerk.canonicalFor(tool));
      assert.notEqual(one, two);
    });
    fc.assert(property, options);
    assert.ok(changed > 20, `${changed} changed`);
  });
}
