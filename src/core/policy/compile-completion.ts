/** Compiles the conditions of a completion. A condition that cannot be evaluated does not hold. */
import { timestampOf } from '../cel/cel-time.ts';
import { compileCel } from '../cel/compile-cel.ts';
import { completionVariables } from './compile-conditions.ts';
import {
  type CompletionCall,
  completionParts,
  type CompletionRule,
  type PolicyProblem,
  type WrittenCompletion,
} from './policy.ts';

type Tell = (problem: Omit<PolicyProblem, 'agent'>) => void;
type Part = (typeof completionParts)[number];
/** True, false, or null for what could not be evaluated. */
type Condition = (session: CompletionCall) => boolean | null;

export function compileCompletion(written: WrittenCompletion, tell: Tell): CompletionRule {
  const counts = compile(written, 'when', tell);
  const condition = compile(written, 'condition', tell);
  return {
    written,
    // INVARIANT: what cannot be told counts, and does not hold.
    required: (session) => (counts(session) === false ? [] : written.require),
    holds: (session) => condition(session) === true,
  };
}

const names = Object.keys(completionVariables).join(', ');
const fix = `write a condition over ${names} that gives true or false`;

function compile(written: WrittenCompletion, part: Part, tell: Tell): Condition {
  const text = written[part];
  if (text === null) return () => true;
  const compiled = compileCel(text, { variables: completionVariables, returns: 'bool', strict: true });
  if (!compiled.ok) {
    const at = compiled.at === undefined ? {} : { at: compiled.at };
    const message = `'${part}' of completion is wrong: ${compiled.problem}`;
    tell({ rule: null, field: 'completion', index: completionParts.indexOf(part), message, fix, ...at });
    return () => null;
  }
  return (session) => {
    const values: Readonly<Record<string, unknown>> = { ...session, now: timestampOf(session.nowMs) };
    const result = compiled.evaluate(values);
    return result.ok ? result.value === true : null;
  };
}
