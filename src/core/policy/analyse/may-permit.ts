/**
 * Decides whether some call of a tool could be permitted or deferred. Walks the rules as judging does, with what is
 * known of tool, agent and state. "No" is proven; `sure` is a proven "yes".
 */
import { type CelResult, compileCel, type CompiledCel } from '../../cel/compile-cel.ts';
import type { Term } from '../../cel/condition.ts';
import { isObject, type Json } from '../../values/json.ts';
import { conditionVariables } from '../compile-conditions.ts';
import { type AgentPolicy, reaches } from '../policy.ts';
import { matchesTool } from '../tool-pattern.ts';
import type { Callable } from './callable.ts';
import type { KnownRange, KnownValues } from './contradict.ts';
import { knownValues } from './known-values.ts';
import type { ProofWork } from './proof-work.ts';
import { conditionOf, type ReadRule } from './read-rules.ts';
import { anyValue, oneOf, ofSorts } from './value-range.ts';

export interface ReadAgent {
  readonly name: string;
  readonly policy: AgentPolicy;
  readonly rules: readonly ReadRule[];
}

/** In which state of which workflow a call is made. */
export interface Standpoint {
  readonly workflow: string;
  /** As XState writes it. */
  readonly value: Json;
}

export interface Permitting {
  readonly may: boolean;
  readonly sure: boolean;
  /** `file:line` of what denies it, or of the first that may permit it. */
  readonly ref: string;
}

export function mayPermit(agent: ReadAgent, callable: Callable, at: Standpoint | null, work: ProofWork): Permitting {
  const { written } = agent.policy;
  const { tool } = callable;
  const { ceiling } = written;
  if (ceiling !== null && reaches.indexOf(tool.reach) > reaches.indexOf(ceiling.reach))
    return { may: false, sure: false, ref: ceiling.ref };
  let sure = true;
  for (const rule of agent.rules) {
    if (!matchesTool(rule.pattern, tool.name)) continue;
    const { effect, ref } = rule.written;
    const truth = truthOf(rule, agent.name, callable, at, work);
    if (truth === 'false') continue;
    if (truth === 'breaks') return { may: false, sure: false, ref };
    if (truth === 'untrue') {
      sure = false;
      continue;
    }
    if (effect !== 'deny') return { may: true, sure: sure && truth === 'true', ref };
    if (truth === 'true') return { may: false, sure: false, ref };
    sure = false;
  }
  const { effect, ref } = written.default ?? { effect: 'deny', ref: written.ref };
  return { may: effect !== 'deny', sure: sure && effect !== 'deny', ref };
}

/** `untrue`: never true, though it may break, and then it denies. */
type Truth = 'true' | 'false' | 'untrue' | 'breaks' | 'open';

function truthOf(rule: ReadRule, agent: string, callable: Callable, at: Standpoint | null, work: ProofWork): Truth {
  if (rule.always !== 'depends') return ({ true: 'true', false: 'false', broken: 'breaks' } as const)[rule.always];
  const answer = evaluateKnown(rule, agent, callable, at);
  if (answer !== null) return !answer.ok ? 'breaks' : answer.value === true ? 'true' : 'false';
  const condition = conditionOf(rule);
  if (condition === null) return 'open';
  const known = knownAt(knownValues(agent, callable), at);
  return work.impossible([{ condition, holds: true }], known, rule.written.ref) === null ? 'open' : 'untrue';
}

const untyped = Object.fromEntries(conditionVariables.map((name) => [name, 'dyn'] as const));

class Unknown extends Error {}
const unknown = new Unknown('not known before a call is made');

/** By rule: its condition, ready to be evaluated. */
const compiled = new WeakMap<ReadRule, CompiledCel | null>();

/** What the condition gives if it reads only what is known; null if it reads anything else. */
function evaluateKnown(rule: ReadRule, agent: string, { tool }: Callable, at: Standpoint | null): CelResult | null {
  let ready = compiled.get(rule);
  if (ready === undefined) {
    const isUnknown = (thrown: unknown) => thrown === unknown;
    const made = compileCel(rule.written.when ?? 'true', {
      variables: untyped,
      returns: 'bool',
      throughSignals: isUnknown,
    });
    ready = made.ok ? made : null;
    compiled.set(rule, ready);
  }
  if (ready === null) return null;
  const closed = trapped(['args', 'model', 'host', 'now', ...(at === null ? ['session', 'state'] : [])]);
  const inSession = at === null ? {} : { session: withTraps({ workflow: at.workflow }, ['id', 'seq']) };
  const inState = at === null ? {} : { state: withTraps({ value: at.value }, ['context']) };
  const principal = withTraps({ agent }, ['tenant']);
  try {
    return ready.evaluate(
      Object.defineProperties({ tool, agent: { name: agent }, principal, ...inSession, ...inState }, closed),
    );
  } catch (error) {
    if (error === unknown) return null;
    throw error;
  }
}

function trapped(names: readonly string[]): PropertyDescriptorMap {
  const get = () => {
    throw unknown;
  };
  return Object.fromEntries(names.map((name) => [name, { get, enumerable: true }]));
}

const withTraps = (fields: object, names: readonly string[]): object =>
  Object.defineProperties({ ...fields }, trapped(names));

function knownAt(known: KnownValues, at: Standpoint | null): KnownValues {
  if (at === null) return known;
  return (term: Term): KnownRange | null => {
    const [variable, field, ...inside] = term.path ?? [];
    if (variable === 'session' && field === 'workflow' && inside.length === 0)
      return { range: oneOf(anyValue, [at.workflow]), says: `the workflow is ${at.workflow}` };
    if (variable !== 'state' || field !== 'value') return known(term);
    let here: Json | undefined = at.value;
    for (const step of inside) here = isObject(here) && Object.hasOwn(here, step) ? (here[step] as Json) : undefined;
    const range =
      typeof here === 'string' ? oneOf(anyValue, [here]) : ofSorts(anyValue, here === undefined ? [] : ['other']);
    return { range, says: `the state is ${JSON.stringify(at.value)}` };
  };
}
