/**
 * Builds the machine that XState runs from the draft. Author code is reached only through our wrappers, and each edge
 * of an action reports that it was taken before anything else.
 */
import { and, assign, createMachine, not, or, raise, stateIn, type AnyStateMachine } from 'xstate';
import type { JsonObject } from '../../values/json.ts';
import { unreachable } from '../../values/unreachable.ts';
import type { ActionRule, DelayRule, EdgeDraft, GuardRule, MachineDraft, StateDraft } from '../read/machine-draft.ts';

export interface Hooks {
  /** Runs an author's code and keeps what it throws, because XState would wrap it. */
  readonly run: <Answer>(code: () => Answer) => Answer;
  /** An edge of an action was taken: the changes that come before its own. */
  readonly took: (context: JsonObject, event: object) => JsonObject;
  /** Whether a guard of an action's edge holds. */
  readonly holds: (rule: Extract<GuardRule, { kind: 'test' }>, context: JsonObject, event: object) => boolean;
}

/** Not the name of the workflow: timers refer to it, and must survive a new name. */
const rootId = 'workflow';

interface Args {
  readonly context: JsonObject;
  readonly event: object;
}

export function buildMachine(
  draft: MachineDraft,
  isAction: (event: string) => boolean,
  maxMicrosteps: number,
  hooks: Hooks,
): AnyStateMachine {
  const { code, delayOf } = translate(hooks);
  const config = {
    ...stateOf(draft.root),
    id: rootId,
    options: { maxIterations: maxMicrosteps },
    context: () => hooks.run(draft.context),
  };
  const delays = Object.fromEntries([...draft.delays].map(([name, rule]) => [name, delayOf(rule)]));
  return createMachine(config as never, { delays } as never) as AnyStateMachine;

  function stateOf(state: StateDraft): object {
    const { type, children, initial, history, historyTo } = state;
    const edges = (kind: EdgeDraft['kind']) => state.edges.filter((edge) => edge.kind === kind);
    const delays = new Set(edges('after').map((edge) => edge.delay));
    const after = [...delays].map((delay) => [delay, edges('after').filter((edge) => edge.delay === delay)] as const);
    return {
      type,
      ...(initial === null ? {} : { initial: { target: initial.to.name, actions: initial.actions.map(code) } }),
      ...(history === null ? {} : { history }),
      ...(historyTo === null ? {} : { target: historyTo.map(targetOf) }),
      entry: state.entry.map(code),
      exit: state.exit.map(code),
      on: Object.fromEntries([...state.byEvent].map(([event, list]) => [event, list.map(edgeOf)])),
      after: Object.fromEntries(after.map(([delay, list]) => [delay, list.map(edgeOf)])),
      ...(edges('always').length === 0 ? {} : { always: edges('always').map(edgeOf) }),
      ...(edges('done').length === 0 ? {} : { onDone: edges('done').map(edgeOf) }),
      ...(children.length === 0 ? {} : { states: Object.fromEntries(children.map((one) => [one.name, stateOf(one)])) }),
    };
  }

  function edgeOf(edge: EdgeDraft): object {
    const isStep = edge.event !== null && isAction(edge.event);
    const took = assign(({ context, event }: Args) => hooks.took(Object.freeze(context), event));
    const actions = edge.actions.map(code);
    return {
      ...(edge.to === null ? {} : { target: edge.to.map(targetOf) }),
      ...(edge.guard === null ? {} : { guard: guardOf(edge.guard, edge.kind === 'action', hooks) }),
      // A forbidden edge stays empty, or it would not be one any more.
      ...(edge.isForbidden ? {} : { actions: isStep ? [took, ...actions] : actions }),
      reenter: edge.reenter,
    };
  }
}

function targetOf(state: StateDraft): string {
  return state.id === '' ? `#${rootId}` : `#${rootId}.${state.id}`;
}

function translate(hooks: Hooks) {
  const delayOf = (rule: DelayRule) =>
    typeof rule === 'number'
      ? rule
      : ({ context, event }: Args) => hooks.run(() => rule(Object.freeze(context), event));
  const code = (rule: ActionRule): unknown => {
    switch (rule.kind) {
      case 'assign':
        return assign(({ context, event }: Args) => hooks.run(() => rule.assign(Object.freeze(context), event)));
      case 'raise': {
        const options = {
          ...(rule.id === null ? {} : { id: rule.id }),
          ...(rule.delay === null ? {} : { delay: delayOf(rule.delay) }),
        };
        const event = ({ context, event: current }: Args) =>
          hooks.run(() => rule.event(Object.freeze(context), current));
        return raise(event as never, options as never);
      }
      default:
        return unreachable(rule);
    }
  };
  return { code, delayOf };
}

function guardOf(rule: GuardRule, isOfAction: boolean, hooks: Hooks): unknown {
  switch (rule.kind) {
    case 'test':
      return ({ context, event }: Args) =>
        hooks.run(() => {
          const frozen = Object.freeze(context);
          return isOfAction ? hooks.holds(rule, frozen, event) : rule.holds(frozen, event);
        });
    case 'all':
      return and(rule.parts.map((part) => guardOf(part, isOfAction, hooks)) as never);
    case 'any':
      return or(rule.parts.map((part) => guardOf(part, isOfAction, hooks)) as never);
    case 'not':
      return not(guardOf(rule.part, isOfAction, hooks) as never);
    case 'in':
      return stateIn(rule.state === null ? rule.value : targetOf(rule.state));
    default:
      return unreachable(rule);
  }
}
