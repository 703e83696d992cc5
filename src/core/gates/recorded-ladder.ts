/**
 * Tells the ladder of a decision from its record: which gate spoke, which passed before it, and what each saw. Pure; a
 * fact that was not recorded is left out, never guessed.
 */
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import type { Rung } from './explain.ts';
import { type GateName, gateNames } from './gate.ts';

/** The record of a decision: `prepared`, `refused` or `held`. */
export interface DecisionRecord {
  readonly kind: string;
  readonly body: JsonObject;
  /** What the reply said, if there was one. */
  readonly message: string | null;
}

/** Which recorded facts a gate looks at. */
const factsOfGate: Readonly<Record<GateName, readonly string[]>> = {
  ready: ['ready', 'in_flight'],
  session: ['session', 'turn_cancelled'],
  known: ['unlisted_servers'],
  reachable: ['state', 'step'],
  input: ['validator'],
  fence: ['fence'],
  policy: [],
  model: ['model'],
  egress: ['addresses'],
  rate: ['rates'],
  budget: ['budgets'],
  approval: ['approval'],
  evidence: ['evidence', 'evidence_now'],
  credential: ['credentials'],
};

export function recordedLadder({ kind, body, message }: DecisionRecord): readonly Rung[] {
  const facts = isObject(body['facts']) ? (body['facts'] as JsonObject) : {};
  const standing = Array.isArray(facts['gates']) ? facts['gates'] : [];
  const spoke = kind === 'prepared' ? null : textOf(body['gate']);
  const softened = softenedIn(body['softened']);
  // If the name is not that of a gate, the call was refused at admission, before any gate.
  let asked = spoke === null || standing.includes(spoke);
  return gateNames.map((gate): Rung => {
    const rung = { gate, saw: {}, why: null, change: null };
    if (!standing.includes(gate)) return { ...rung, answer: 'absent' };
    if (!asked) return { ...rung, answer: 'not_asked' };
    const saw = sawOf(gate, facts, body);
    if (gate === spoke) {
      asked = false;
      return { ...rung, saw, answer: kind === 'held' ? 'held' : 'refused', why: message };
    }
    const soft = softened.get(gate);
    if (soft !== undefined) return { ...rung, saw, answer: 'softened', why: soft };
    return { ...rung, saw, answer: 'passed', why: whyPassed(gate, body, kind) };
  });
}

function sawOf(gate: GateName, facts: JsonObject, body: JsonObject): JsonObject {
  const seen = factsOfGate[gate].flatMap((name) => (name in facts ? [[name, facts[name] ?? null] as const] : []));
  const own: readonly (readonly [string, Json | undefined])[] =
    gate === 'policy' ? [['policy', body['policy']]] : gate === 'known' ? [['effect_class', body['effect_class']]] : [];
  return Object.fromEntries([...seen, ...own.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))]);
}

function whyPassed(gate: GateName, { rule }: JsonObject, kind: string): string | null {
  if (gate !== 'policy' || typeof rule !== 'string') return null;
  return kind === 'held' ? `deferred by ${rule}` : `decided by ${rule}`;
}

/** Audit mode let these pass. */
function softenedIn(value: Json | undefined): ReadonlyMap<string, string> {
  if (!Array.isArray(value)) return new Map();
  return new Map(
    value.filter(isObject).flatMap(({ gate, code, rule }) => {
      if (typeof gate !== 'string') return [];
      return [[gate, `audit mode: ${String(code)}${typeof rule === 'string' ? ` by ${rule}` : ''}`] as const];
    }),
  );
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
