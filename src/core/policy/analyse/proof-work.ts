/**
 * Limits the work of proofs by counting questions and pairs of patterns. What lies beyond the limit is reported as not
 * decided.
 */
import type { Condition } from '../../cel/condition.ts';
import { unreachable } from '../../values/unreachable.ts';
import { covers } from '../pattern-covers.ts';
import { matchesTool, type ToolPattern } from '../tool-pattern.ts';
import { canHold, type Conflict, type KnownValues, maxWays, type Wanted } from './contradict.ts';
import type { PolicyAnalysisLimits } from './policy-analysis.ts';

export interface ProofWork {
  /** Every name that `second` matches is matched by `first`: proven. */
  covers(first: ToolPattern, second: ToolPattern): boolean;
  /** Why these cannot be so together; null if that is not proven. `ref` is the rule that is asked about. */
  impossible(wanted: readonly Wanted[], known: KnownValues, ref: string): readonly Conflict[] | null;
  /** False once so many pairs of rules were compared that no more may be. */
  mayCompare(pairs: number): boolean;
  /** A name that the pattern matches. */
  nameFor(pattern: ToolPattern): string;
  readonly undecided: () => readonly string[];
}

/** How many places a sentence names. */
export const maxNamedRefs = 12;

type WorkLimits = Pick<PolicyAnalysisLimits, 'maxPatternPairs' | 'maxRulePairs' | 'maxQuestions'>;

export function createProofWork(limits: WorkLimits): ProofWork {
  let pairsLeft = limits.maxPatternPairs;
  let rulePairsLeft = limits.maxRulePairs;
  let questionsLeft = limits.maxQuestions;
  const tangled = new Set<string>();
  let unclear = false;
  return {
    covers(first, second) {
      if (second.isLiteral) return matchesTool(first, second.text);
      if (first.isLiteral) return false;
      if (first.text === second.text) return true;
      if (--pairsLeft < 0) return false;
      const answer = covers(first, second);
      unclear ||= answer.covers === 'unknown';
      return answer.covers === 'yes';
    },
    impossible(wanted, known, ref) {
      if (--questionsLeft < 0) return null;
      const verdict = canHold(wanted, known);
      if (verdict.kind === 'too_many') tangled.add(ref);
      return verdict.kind === 'impossible' ? verdict.conflicts : null;
    },
    mayCompare: (pairs) => (rulePairsLeft -= pairs) >= 0,
    nameFor(pattern) {
      if (pattern.isLiteral) return pattern.text;
      const nobody: ToolPattern = { text: '-', segments: [['-']], isLiteral: true };
      const found = covers(nobody, pattern);
      return found.covers === 'no' ? found.name : pattern.text;
    },
    undecided: () => [
      ...(tangled.size === 0
        ? []
        : [`conditions that can hold in more than ${maxWays} ways were not compared: ${listRefs([...tangled])}.`]),
      ...(pairsLeft < 0 ? [`only ${limits.maxPatternPairs} pairs of patterns were compared.`] : []),
      ...(rulePairsLeft < 0 ? [`only ${limits.maxRulePairs} pairs of rules were compared.`] : []),
      ...(questionsLeft < 0 ? [`only ${limits.maxQuestions} questions about conditions were asked.`] : []),
      ...(unclear ? ['some patterns have too many stars to tell whether one covers the other.'] : []),
    ],
  };
}

export function listRefs(refs: readonly string[]): string {
  const more = refs.length > maxNamedRefs ? ` and ${refs.length - maxNamedRefs} more` : '';
  return `${refs.slice(0, maxNamedRefs).join(', ')}${more}`;
}

/** Conditions that proofs only follow in part: what calls a function, loops, calculates or compares two values. */
export function isFollowed(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.parts.every(isFollowed);
    case 'not':
      return isFollowed(condition.part);
    case 'compare':
    case 'among':
      return condition.term.path !== null;
    case 'free':
      return false;
    case 'always':
    case 'has':
    case 'truth':
      return true;
    default:
      return unreachable(condition);
  }
}
