/**
 * What is enforced is exactly what is written. Policies are written in many layouts and read; from each rule of the
 * compiled policy the line it names is looked up and read again, by a reader that knows nothing of ours.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { timesDrawn } from '../../test/support/times-drawn.ts';
import { drawFiles, drawnTools } from '../../test/support/policy-layout.ts';
import type { Policy, RuleCall, WrittenRule } from '../core/policy/policy.ts';
import { compileConfigPolicy } from './compile-config-policy.ts';
import { readConfig } from './read-config.ts';

type Plain = Record<string, unknown>;
type Spoken = Pick<WrittenRule, 'effect' | 'match' | 'when' | 'reason'>;

function load(files: ReadonlyMap<string, string>): Policy | null {
  const [main = ''] = files.values();
  const others = [...files].slice(1);
  const included = new Map(
    others.flatMap(([file, text]) =>
      [`./${file}`, file].map((name) => [name, { ok: true as const, file, text }] as const),
    ),
  );
  const read = readConfig(main, 'recourse.yaml', { env: {}, included, lock: null });
  const policy = compileConfigPolicy(read, null);
  assert.deepEqual(read.allProblems(), [], [...files.values()].join('\n---\n'));
  return policy;
}

/** The rules that a map of YAML stands for. */
function spokenIn(rule: unknown): readonly Spoken[] {
  const { when, reason, ...rest } = rule as Plain;
  const [[effect, tools] = ['', []], ...more] = Object.entries(rest);
  assert.deepEqual(more, []);
  const shared = { when: when === undefined ? null : String(when), reason: (reason as string | undefined) ?? null };
  return [tools].flat().map((match) => ({ effect, match, ...shared }) as Spoken);
}

const indentOf = (line: string) => /^ */.exec(line)?.[0].length ?? 0;
const isEmpty = (line: string) => /^\s*(?:#.*)?$/.test(line);

/** The line, and what belongs to it because it stands further in. */
function blockAt(lines: readonly string[], at: number, inside: number): string {
  let end = at + 1;
  while (end < lines.length && (isEmpty(lines[end] ?? '') || indentOf(lines[end] ?? '') >= inside)) end += 1;
  return lines.slice(at, end).join('\n');
}

/** Maps in braces that begin on the first line of the text, from here on. */
function bracesIn(text: string, from: number): readonly unknown[] {
  const found: unknown[] = [];
  let [start, depth, quote] = [-1, 0, ''];
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === '\\' && quote === '"') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '{' && depth++ === 0) start = at;
    else if (char === '}' && --depth === 0) found.push(parse(text.slice(start, at + 1)));
    else if (depth === 0 && (char === '\n' || char === ']')) break;
  }
  return found;
}

/** What a person finds who follows a reference. */
function rulesAt(files: ReadonlyMap<string, string>, ref: string): readonly Spoken[] {
  const cut = ref.lastIndexOf(':');
  const lines = (files.get(ref.slice(0, cut)) ?? '').split(/\r?\n/);
  const at = Number(ref.slice(cut + 1)) - 1;
  const line = lines[at] ?? '';
  const indent = indentOf(line);
  const flow = /rules: \[/.exec(line);
  if (flow !== null) return bracesIn(lines.slice(at).join('\n'), flow.index + flow[0].length).flatMap(spokenIn);
  if (line.trimStart().startsWith('{')) return bracesIn(lines.slice(at).join('\n'), indent).flatMap(spokenIn);
  if (line.trimStart().startsWith('- ')) return (parse(blockAt(lines, at, indent + 1)) as unknown[]).flatMap(spokenIn);
  return spokenIn(parse(blockAt(lines, at, indent)));
}

function lineAt(files: ReadonlyMap<string, string>, ref: string): string {
  const [file = '', line = ''] = ref.split(':');
  return (files.get(file) ?? '').split(/\r?\n/)[Number(line) - 1] ?? '';
}

/** Everything that the files say, by a reader that keeps no places. */
function saidIn(files: ReadonlyMap<string, string>): ReadonlyMap<string, Plain> {
  const all = [...files.values()].map((text) => (parse(text) as Plain | null)?.['agents'] as Plain | undefined);
  return new Map(all.flatMap((agents) => Object.entries(agents ?? {})) as [string, Plain][]);
}

const speak = ({ effect, match, when, reason }: Spoken): Spoken => ({ effect, match, when, reason });

const count = { policies: 0, rules: 0, together: 0, included: 0, judged: 0 };

function checkAgent(files: ReadonlyMap<string, string>, policy: Policy, name: string, said: Plain): void {
  const written = policy.agents.get(name)?.written;
  assert.ok(written, `${name} is written, and not in the policy`);
  const rules = written.rules;
  assert.deepEqual(
    rules.map(speak),
    ((said['rules'] ?? []) as unknown[]).flatMap(spokenIn),
    'nothing more, nothing less',
  );
  for (const ref of new Set(rules.map((rule) => rule.ref))) {
    const here = rules.filter((rule) => rule.ref === ref);
    count.together += here.length > 1 ? 1 : 0;
    count.included += ref.startsWith('recourse.yaml') ? 0 : 1;
    assert.deepEqual(here.map(speak), rulesAt(files, ref), `${ref} says something else`);
  }
  count.rules += rules.length;
  assert.equal(written.default?.effect, said['default']);
  if (written.default !== null)
    assert.match(lineAt(files, written.default.ref), new RegExp(`default: ["']?${written.default.effect}`));
  assert.equal(written.ceiling?.reach, said['mode']);
  if (written.ceiling !== null)
    assert.match(lineAt(files, written.ceiling.ref), new RegExp(`mode: ["']?${written.ceiling.reach}`));
  assert.deepEqual(written.models?.allow, (said['model_policy'] as Plain | undefined)?.['allow']);
  assert.ok(lineAt(files, written.ref).includes(name));
}

const callOf = (tool: string, agent: string): RuleCall => ({
  tool: { name: tool, effect: 'pure', reach: 'read_only', annotations: {} },
  args: { amount: 1, note: '', list: [], ok: true },
  agent: { name: agent },
  principal: { tenant: 'default', agent },
  session: { id: null, seq: 0, workflow: null },
  state: null,
  model: null,
  host: null,
  nowMs: 0,
});

test('from every compiled rule one comes back to the line it was written on, and to nothing else', (t) => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const files = drawFiles(g);
      const policy = load(files);
      const said = saidIn(files);
      if (policy === null) {
        assert.equal(said.size, 0);
        return;
      }
      count.policies += 1;
      assert.deepEqual([...policy.agents.keys()].toSorted(), [...said.keys()].toSorted());
      for (const [name, each] of said) checkAgent(files, policy, name, each);
      for (const [name, agent] of policy.agents)
        for (const tool of drawnTools) {
          const judgement = agent.judge(callOf(tool, name));
          count.judged += 1;
          if (judgement.by !== 'rule') continue;
          const found = rulesAt(files, judgement.ref).filter(
            ({ effect, match }) => effect === judgement.effect && path.matchesGlob(tool, match),
          );
          assert.ok(found.length > 0, `${judgement.ref} does not ${judgement.effect} ${tool}`);
        }
    }),
    { seed: 11, numRuns: timesDrawn(400, 120) },
  );
  t.diagnostic(JSON.stringify(count));
  for (const [what, many] of Object.entries(count)) assert.ok(many > 50, `only ${many} ${what}`);
});
