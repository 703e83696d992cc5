/**
 * Evaluates a guard. There are four answers, because a guard may need inputs that are not known yet, or may throw. A
 * test keeps the order equal to XState's.
 */
import { matchesState, type StateValue } from 'xstate';
import type { JsonObject } from '../../values/json.ts';
import { unreachable } from '../../values/unreachable.ts';
import { AuthorFault, faultOf } from '../read/author-code.ts';
import type { Probe } from '../read/inputs-trap.ts';
import type { GuardRule, StateDraft } from '../read/machine-draft.ts';

export type Verdict = 'yes' | 'no' | 'depends' | AuthorFault;

/** What a guard is asked about. */
export interface Standing {
  readonly context: JsonObject;
  readonly value: StateValue;
  readonly active: ReadonlySet<StateDraft>;
  readonly probe: Probe;
  /** Set when a guard looked at inputs that are not known: with the wrong ones it may even be broken. */
  asksInputs: boolean;
}

export function judgeGuard(rule: GuardRule, standing: Standing): Verdict {
  switch (rule.kind) {
    case 'test': {
      const verdict = judgeTest(rule.name, rule.holds, standing.context, standing.probe);
      if (verdict === 'depends') standing.asksInputs = true;
      return verdict;
    }
    case 'all':
    case 'any':
      return judgeParts(rule.parts, rule.kind === 'all' ? 'no' : 'yes', standing);
    case 'not': {
      const verdict = judgeGuard(rule.part, standing);
      return verdict === 'yes' ? 'no' : verdict === 'no' ? 'yes' : verdict;
    }
    case 'in': {
      const holds = rule.state === null ? matchesState(rule.value, standing.value) : standing.active.has(rule.state);
      return holds ? 'yes' : 'no';
    }
    default:
      return unreachable(rule);
  }
}

/** `decisive` ends the question: a no among all, a yes among any. */
function judgeParts(parts: readonly GuardRule[], decisive: 'yes' | 'no', standing: Standing): Verdict {
  let isOpen = false;
  for (const part of parts) {
    const verdict = judgeGuard(part, standing);
    if (verdict === 'depends') isOpen = true;
    else if (verdict instanceof AuthorFault) return isOpen ? 'depends' : verdict;
    else if (verdict === decisive) return verdict;
  }
  if (isOpen) return 'depends';
  return decisive === 'no' ? 'yes' : 'no';
}

/** What a guard touched counts, whatever it answered or threw. */
export function judgeTest(
  name: string,
  holds: (context: JsonObject, event: unknown) => boolean,
  context: JsonObject,
  probe: Probe,
): Verdict {
  probe.touchedInputs = false;
  probe.readResult = false;
  let verdict: Verdict;
  try {
    verdict = holds(context, probe.event) ? 'yes' : 'no';
  } catch (thrown) {
    verdict = probe.touchedInputs ? 'depends' : faultOf(name, thrown);
    // structuredClone asks a trap nothing and refuses it: of inputs that are known it makes a copy.
    if (probe.isTrap && verdict instanceof AuthorFault && verdict.errorType === 'DataCloneError') verdict = 'depends';
  }
  if (probe.readResult) {
    return new AuthorFault(name, 'GuardError', 'a guard cannot read event.result: it is judged before the action runs');
  }
  return probe.touchedInputs ? 'depends' : verdict;
}
