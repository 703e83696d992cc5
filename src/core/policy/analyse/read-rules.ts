/** The rules of an agent in the form that proofs use: the pattern of each, and its parsed condition. */
import { compileCel } from '../../cel/compile-cel.ts';
import type { Condition, ReadCondition } from '../../cel/condition.ts';
import { readCondition } from '../../cel/read-condition.ts';
import type { WrittenAgent, WrittenRule } from '../policy.ts';
import { compileToolPattern, type ToolPattern } from '../tool-pattern.ts';

export interface ReadRule {
  readonly index: number;
  readonly written: WrittenRule;
  readonly pattern: ToolPattern;
  /** Null if there is none, or it could not be read. */
  readonly condition: ReadCondition | null;
  /** What the condition gives whatever the values: without one it is always true. `depends` is every other. */
  readonly always: 'true' | 'false' | 'broken' | 'depends';
}

/** A rule that cannot be read was refused when the policy was compiled; it is left out. */
export function readRules({ rules }: WrittenAgent): readonly ReadRule[] {
  return rules.flatMap((written, index): ReadRule[] => {
    const compiled = compileToolPattern(written.match);
    if (!compiled.ok) return [];
    const condition = written.when === null ? null : readCondition(written.when);
    return [{ index, written, pattern: compiled.pattern, condition, always: alwaysOf(written.when, condition) }];
  });
}

function alwaysOf(when: string | null, condition: ReadCondition | null): ReadRule['always'] {
  if (when === null) return 'true';
  if (condition === null || condition.reads.size > 0) return 'depends';
  const compiled = compileCel(when, { variables: {}, returns: 'bool' });
  if (!compiled.ok) return 'depends';
  const answer = compiled.evaluate({});
  if (!answer.ok) return 'broken';
  return answer.value === true ? 'true' : 'false';
}

/** Whoever meets it is decided by it: it matches, or it breaks and denies. */
export const decidesAlways = ({ always }: ReadRule): boolean => always === 'true' || always === 'broken';

/** For proofs: a rule without a condition is one whose condition holds. Null if the condition could not be read. */
export function conditionOf({ written, condition }: ReadRule): Condition | null {
  if (written.when === null) return { kind: 'always', holds: true, text: 'true' };
  return condition?.root ?? null;
}
