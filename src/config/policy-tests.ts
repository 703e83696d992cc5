/**
 * Reads a file of policy tests. Total: any text gives the cases that could be read, and every problem with its place.
 * An ambiguous case is a problem: a test that cannot fail would be worse than none.
 */
import type { Json, JsonObject } from '../core/values/json.ts';
import { nearest } from '../core/values/nearest.ts';
import { ruleEffects, type RuleEffect } from '../core/policy/policy.ts';
import { type CaseCode, caseCodes, type PolicyCase } from '../core/policy/test-policy.ts';
import { mapOf, numberOf, textOf } from './yaml/plain-values.ts';
import { createProblemList, type Problem, refOf, type Tell } from './problem.ts';
import { keyPlaceOf, placeOf, readShape } from './shape/read-shape.ts';
import { count, listOf, type Shape, text } from './shape/shape.ts';
import { readYaml, type Tree } from './yaml/yaml-tree.ts';

export const policyTestLimits = { maxChars: 4 << 20, maxNodes: 200_000, maxDepth: 64, maxCases: 10_000 } as const;

const instant = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|[+-]\\d\\d:\\d\\d)$';

const caseShape: Shape = {
  kind: 'fields',
  says: 'a call, and what should be decided about it',
  fields: {
    name: { shape: text('what the case shows, in a sentence'), required: true },
    agent: { shape: text('who calls'), required: true },
    call: { shape: text('the tool, or workflow/action'), required: true },
    args: { shape: { kind: 'json', says: 'its arguments', sort: 'map' } },
    model: { shape: text('the model that the caller says it is') },
    session: {
      shape: {
        kind: 'fields',
        says: 'the session it is made in',
        fields: {
          seq: { shape: count('how many steps were made before', 0, Number.MAX_SAFE_INTEGER) },
          workflow: { shape: text('its workflow') },
        },
      },
    },
    state: { shape: { kind: 'json', says: 'value and context of the state', sort: 'map' } },
    now: { shape: text('an instant', { pattern: [instant, 'an instant such as 2026-01-01T12:00:00Z'] }) },
    expect: { shape: text('what should be decided', { oneOf: ruleEffects }), required: true },
    code: { shape: text('the code of the reply', { oneOf: caseCodes }) },
    rule: { shape: { kind: 'json', says: 'file:line of what should decide, or the line', sort: 'anything' } },
  },
};

export const policyTestsShape: Shape = {
  kind: 'fields',
  says: 'tests of a policy',
  fields: { cases: { shape: listOf('the cases', caseShape, 1, policyTestLimits.maxCases), required: true } },
};

export interface ReadPolicyTests {
  readonly cases: readonly PolicyCase[];
  readonly problems: readonly Problem[];
}

/** `agents` are those that the policy knows. */
export function readPolicyTests(source: string, file: string, agents: readonly string[]): ReadPolicyTests {
  const list = createProblemList(file, source);
  const tree = readYaml(source, file, list.tell, policyTestLimits);
  if (tree === null) {
    if (list.problems().length === 0) list.tell({ file, line: 1, column: 1 }, 'there are no cases', 'add cases: [ … ]');
    return { cases: [], problems: list.problems() };
  }
  readShape(tree, policyTestsShape, { tell: list.tell, env: undefined });
  const names = new Set<string>();
  const cases = itemsIn(tree).flatMap((item) => {
    // Its problems have been reported; here the case is read only if there are none.
    let isWhole = true;
    const read = readShape(item, caseShape, { tell: () => void (isWhole = false), env: undefined });
    if (!isWhole) return [];
    return readCase(mapOf(read), item, { tell: list.tell, agents, names });
  });
  return { cases, problems: list.problems() };
}

function itemsIn(tree: Tree): readonly Tree[] {
  const cases = tree.kind === 'map' ? tree.entries.get('cases')?.value : undefined;
  return cases?.kind === 'list' ? cases.items : [];
}

interface CaseParts {
  readonly tell: Tell;
  readonly agents: readonly string[];
  readonly names: Set<string>;
}

function readCase(read: JsonObject, tree: Tree, { tell, agents, names }: CaseParts): readonly PolicyCase[] {
  let isSound = true;
  const refuse = (key: string, message: string, fix: string) => {
    isSound = false;
    tell(placeOf(tree, [key]), message, fix);
  };
  const [name = '', agent = '', tool = ''] = ['name', 'agent', 'call'].map((key) => textOf(read[key]) ?? '');
  if (names.has(name)) refuse('name', 'another case has this name', 'give each case a name of its own');
  names.add(name);
  if (!agents.includes(agent)) refuse('agent', `there is no agent '${agent}'`, agentMeant(agent, agents));
  const expect = (textOf(read['expect']) ?? 'deny') as RuleEffect;
  const code = textOf(read['code']) as CaseCode | null;
  const legal = codesOf[expect];
  if (code !== null && !legal.includes(code)) refuse('code', `${expect} never has the code ${code}`, codeFix(legal));
  const rule = ruleOf(read['rule']);
  if (rule === undefined) refuse('rule', 'this is no place of a rule', 'write recourse.yaml:14, or the line alone');
  const nowMs = instantOf(textOf(read['now']));
  if (Number.isNaN(nowMs)) refuse('now', 'there is no such instant', 'write an instant such as 2026-01-01T12:00:00Z');
  if (!isSound) return [];
  return [
    {
      name,
      ref: refOf(keyPlaceOf(tree, ['name'])),
      agent,
      tool,
      args: read['args'] ?? {},
      model: textOf(read['model']),
      session: sessionOf(mapOf(read['session'])),
      state: read['state'] ?? null,
      nowMs,
      expect,
      code,
      rule: rule ?? null,
    },
  ];
}

const codeFix = (legal: readonly CaseCode[]): string =>
  legal.length === 0 ? 'leave it out' : `use ${legal.join(' or ')}`;

function agentMeant(agent: string, agents: readonly string[]): string {
  const near = nearest(agent, agents);
  if (near !== null) return `did you mean ${near}?`;
  return agents.length === 0 ? 'declare it under agents' : `use one of ${agents.join(', ')}`;
}

const instantOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

const sessionOf = ({ seq, workflow }: JsonObject): PolicyCase['session'] => ({
  seq: numberOf(seq) ?? 0,
  workflow: textOf(workflow),
});

const codesOf: Readonly<Record<RuleEffect, readonly CaseCode[]>> = {
  permit: [],
  defer: ['POLICY_DEFER'],
  deny: ['POLICY_DENY', 'MODEL_DENIED'],
};

/** Undefined if it is not the place of a rule. */
function ruleOf(value: Json | undefined): string | number | null | undefined {
  if (value === undefined) return null;
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? value : undefined;
  return typeof value === 'string' && /^.+:[1-9]\d*$/.test(value) ? value : undefined;
}
