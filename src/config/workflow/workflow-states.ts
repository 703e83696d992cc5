/**
 * Converts the states of a YAML workflow into an XState machine. Targets are resolved. Guards, assigns and raised
 * events are named by their own text, so that refusals can show them and a changed expression is a changed machine.
 */
import { assign, raise } from 'xstate';
import type { CelType } from '../../core/cel/check-types.ts';
import { writtenAs } from '../../core/workflow/read/reading.ts';
import { durationMs } from '../duration.ts';
import type { Tell } from '../problem.ts';
import { hasKey, keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import { mapOf, textOf, withoutGaps } from '../yaml/plain-values.ts';
import type { Expressions, Path, Variables } from './workflow-expressions.ts';
import { failedOutcome, type Outcomes, skippedOutcome } from '../../core/workflow/step-error.ts';
import { checkErrorEdge, errorType, outcomeOf, withErrorMatch } from './error-edges.ts';
import { checkStateKeys } from './check-state-keys.ts';
import type { Tree } from '../yaml/yaml-tree.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';

/** What guards and assigns are called with. */
interface StepArgs {
  readonly context: unknown;
  readonly event: { readonly inputs?: unknown; readonly result?: unknown; readonly error?: unknown };
}

export interface StateParts {
  readonly name: string;
  readonly definition: JsonObject;
  readonly tree: Tree;
  readonly tell: Tell;
  readonly expressions: Expressions;
  readonly context: CelType;
  /** What is known of the inputs of each action. */
  readonly inputs: ReadonlyMap<string, CelType>;
  /** How steps of each action may end beside their success. */
  readonly outcomes: Outcomes;
}

export interface WrittenMachine {
  readonly config: JsonObject;
  readonly guards: Readonly<Record<string, unknown>>;
  readonly actions: Readonly<Record<string, unknown>>;
}

/** The place of an edge, and the variables of its guard and its assign. */
interface EdgePlace {
  readonly path: Path;
  /** From the root to the state that it leaves. */
  readonly route: readonly string[];
  readonly guardOver: Variables;
  readonly assignOver: Variables;
  /** It is on how a step ended beside its success. */
  readonly isOutcome?: true;
}

/** Not a forbidden transition: the action is legal and changes nothing. */
const stay = 'stay';

export function readStates(parts: StateParts): WrittenMachine {
  const reader = new StateReader(parts);
  const { name, definition } = parts;
  const { type, initial, states, on } = definition;
  const root = Object.fromEntries(
    Object.entries({ type, initial, states, on }).filter(([, value]) => value !== undefined),
  );
  const config = { id: name, context: mapOf(definition['context']), ...reader.readState(root as JsonObject, [], []) };
  return { config, guards: reader.guards, actions: reader.actions };
}

class StateReader {
  readonly guards: Record<string, unknown> = {};
  readonly actions: Record<string, unknown> = {};
  readonly #parts: StateParts;
  /** Events that the machine raises itself. */
  readonly #raised: ReadonlySet<string>;

  constructor(parts: StateParts) {
    this.#parts = parts;
    this.#raised = new Set(
      raisedIn({ states: parts.definition['states'] ?? null, on: parts.definition['on'] ?? null }),
    );
  }

  readState(state: JsonObject, path: Path, route: readonly string[]): JsonObject {
    const { context, tree, tell } = this.#parts;
    checkStateKeys(state, path, tree, tell);
    const quietly = (key: string) => ({ path: [...path, key], route, guardOver: { context }, assignOver: { context } });
    const children = Object.entries(mapOf(state['states'])).map(([name, child]) => {
      return [name, this.readState(mapOf(child), [...path, 'states', name], [...route, name])] as const;
    });
    const changed = (key: string) => this.#actions([...path, key], mapOf(state[key]), { context });
    return withoutGaps({
      type: textOf(state['type']),
      description: textOf(state['description']),
      initial: textOf(state['initial']),
      history: textOf(state['history']),
      target: this.#target(state['target'], [...path, 'target'], route),
      on: this.#on(state['on'], [...path, 'on'], route),
      after: this.#after(state['after'], quietly('after')),
      always: this.#edges(state['always'], quietly('always')),
      onDone: this.#edges(state['on_done'], quietly('on_done')),
      entry: changed('entry'),
      exit: changed('exit'),
      states: children.length === 0 ? null : Object.fromEntries(children),
    }) as JsonObject;
  }

  #on(raw: Json | undefined, path: Path, route: readonly string[]): JsonObject | null {
    if (raw === undefined) return null;
    const { context, inputs: known, tree, tell } = this.#parts;
    const entries = Object.entries(mapOf(raw)).map(([action, edges]) => {
      const outcome = known.has(action) ? null : outcomeOf(action);
      if (outcome !== null)
        return [action, this.#onOutcome(outcome, edges, { path: [...path, action], route })] as const;
      const inputs = known.get(action);
      if (inputs === undefined && this.#raised.has(action)) {
        const place = { path: [...path, action], route, guardOver: { context }, assignOver: { context } };
        return [action, this.#edges(edges, place) ?? {}] as const;
      }
      // An invalid one has been reported.
      if (inputs === undefined && !hasKey(tree, ['actions', action])) {
        const near = nearest(action, [...known.keys(), ...this.#raised]);
        const fix = near === null ? 'add it under actions' : `did you mean ${near}?`;
        tell(keyPlaceOf(tree, [...path, action]), `there is no action '${action}'`, fix);
      }
      const guardOver = { context, inputs: inputs ?? 'dyn' } as const;
      const place = { path: [...path, action], route, guardOver, assignOver: { ...guardOver, result: 'dyn' } as const };
      return [action, this.#edges(edges, place) ?? {}] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Edges on `<action>.failed` and on outcomes that a stage names. */
  #onOutcome(
    { action, outcome }: NonNullable<ReturnType<typeof outcomeOf>>,
    edges: Json,
    { path, route }: Pick<EdgePlace, 'path' | 'route'>,
  ): Json {
    const { context, inputs: known, outcomes, tree, tell } = this.#parts;
    const inputs = known.get(action);
    const here = keyPlaceOf(tree, path);
    if (inputs === undefined && !hasKey(tree, ['actions', action])) {
      const near = nearest(action, [...known.keys()]);
      tell(here, `there is no action '${action}'`, near === null ? 'add it under actions' : `did you mean ${near}?`);
    } else if (outcomes.get(action)?.includes(outcome) === false) {
      const others = outcomes.get(action) ?? [];
      const fix = `use one of ${others.map((each) => `${action}.${each}`).join(', ')}`;
      tell(here, `a step of '${action}' never ends as '${outcome}'`, fix);
    }
    const hasResult = outcome !== failedOutcome && outcome !== skippedOutcome;
    const over = { context, inputs: inputs ?? 'dyn', error: hasResult ? 'dyn' : errorType } as const;
    const assignOver = hasResult ? ({ ...over, result: 'dyn' } as const) : over;
    return this.#edges(edges, { path, route, guardOver: over, assignOver, isOutcome: true }) ?? {};
  }

  #after(raw: Json | undefined, place: EdgePlace): JsonObject | null {
    if (raw === undefined) return null;
    const { tree, tell } = this.#parts;
    const waits = new Set<number | null>();
    const entries = Object.entries(mapOf(raw)).map(([wait, edges]) => {
      const ms = durationMs(wait);
      if (waits.has(ms))
        tell(keyPlaceOf(tree, [...place.path, wait]), `'${wait}' stands here twice`, 'make it one list');
      waits.add(ms);
      return [String(ms), this.#edges(edges, { ...place, path: [...place.path, wait] }) ?? {}] as const;
    });
    return Object.fromEntries(entries);
  }

  #edges(raw: Json | undefined, place: EdgePlace): Json | null {
    if (raw === undefined) return null;
    if (!Array.isArray(raw)) return this.#edge(raw, place);
    return raw.map((each: Json, index) => this.#edge(each, { ...place, path: [...place.path, index] }));
  }

  #edge(raw: Json, { path, route, guardOver, assignOver, isOutcome }: EdgePlace): JsonObject {
    const edge: JsonObject = typeof raw === 'string' ? { target: raw } : mapOf(raw);
    checkErrorEdge(edge, path, isOutcome === true, this.#parts.tree, this.#parts.tell);
    const target = this.#target(edge['target'], typeof raw === 'string' ? path : [...path, 'target'], route);
    const changed = this.#actions(path, edge, assignOver);
    const idle = changed === null && edge['target'] === undefined;
    if (idle) this.actions[stay] = assign({});
    return withoutGaps({
      target,
      guard: this.#guard([...path, 'guard'], isOutcome === true ? withErrorMatch(edge) : edge['guard'], guardOver),
      actions: idle ? stay : changed,
      reenter: edge['reenter'] === true ? true : null,
      description: textOf(edge['description']),
    }) as JsonObject;
  }

  #target(raw: Json | undefined, path: Path, route: readonly string[]): string | null {
    if (typeof raw !== 'string') return null;
    const { name, definition, tree, tell } = this.#parts;
    const found = findTarget(raw, route, name, definition);
    if (found.ok) return found.target;
    tell(placeOf(tree, path), `there is no state '${raw}'`, found.fix);
    return null;
  }

  #guard(path: Path, text: Json | undefined, over: Variables): string | null {
    const holds = this.#parts.expressions.read(path, text, over, 'bool');
    if (holds === null || typeof text !== 'string') return null;
    this.guards[text] = writtenAs((args: StepArgs) => holds(valuesOf(args)) === true, text);
    return text;
  }

  /** In file order. Raised events are handled after the step. */
  #actions(path: Path, written: JsonObject, over: Variables): Json | null {
    const changed = this.#assign([...path, 'assign'], written['assign'], over);
    const event = textOf(written['raise']);
    if (event === null) return changed;
    const { inputs, tree, tell } = this.#parts;
    if (inputs.has(event)) {
      const fix = 'name an event that only the machine raises';
      tell(placeOf(tree, [...path, 'raise']), `'${event}' is an action, and would come without its inputs`, fix);
    }
    const name = `raise ${event}`;
    this.actions[name] = raise({ type: event });
    return changed === null ? name : [changed, name];
  }

  #assign(path: Path, fields: Json | undefined, over: Variables): string | null {
    if (fields === undefined) return null;
    const become = this.#parts.expressions.readFields(path, mapOf(fields), over);
    const text = Object.entries(mapOf(fields)).map(([field, value]) => `${field} = ${String(value)}`);
    const name = text.join('; ') || stay;
    this.actions[name] = assign((args) => become(valuesOf(args as unknown as StepArgs)) as never);
    return name;
  }
}

/** Inputs and result are read lazily: while a step is decided, reading them throws. */
function valuesOf({ context, event }: StepArgs): Readonly<Record<string, unknown>> {
  return {
    context,
    get inputs() {
      return event.inputs;
    },
    get result() {
      return event.result;
    },
    get error() {
      return event.error;
    },
  };
}

/** Every event that a state or an edge of it raises. The depth of a file is limited where it is read. */
function raisedIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(raisedIn);
  return Object.entries(mapOf(value)).flatMap(([key, inside]) =>
    key === 'raise' && typeof inside === 'string' ? [inside] : raisedIn(inside),
  );
}

export type FoundTarget = { readonly ok: true; readonly target: string } | { readonly ok: false; readonly fix: string };

/** `route` leads from the root to the state that is left; the target comes back as XState writes it. */
export function findTarget(target: string, route: readonly string[], workflow: string, root: JsonObject): FoundTarget {
  const inside = target.startsWith('.');
  const steps = (inside ? target.slice(1) : target).split('.');
  if (inside) return stateAt([...route, ...steps], root) === null ? unknown(target, route, root) : { ok: true, target };
  if (route.length > 0 && stateAt([...route.slice(0, -1), ...steps], root) !== null) return { ok: true, target };
  if (stateAt(steps, root) === null) return unknown(target, route, root);
  return { ok: true, target: route.length === 0 ? `.${target}` : `#${workflow}.${target}` };
}

function unknown(target: string, route: readonly string[], root: JsonObject): FoundTarget {
  const beside = Object.keys(mapOf(stateAt(route.slice(0, -1), root)?.['states']));
  const inside = Object.keys(mapOf(stateAt(route, root)?.['states'])).map((name) => `.${name}`);
  const known = [...new Set([...beside, ...inside, ...Object.keys(mapOf(root['states']))])];
  const near = nearest(target, known);
  return { ok: false, fix: near === null ? `use one of ${known.join(', ')}` : `did you mean ${near}?` };
}

function stateAt(route: readonly string[], root: JsonObject): JsonObject | null {
  let here: JsonObject = root;
  for (const step of route) {
    const states: JsonObject = mapOf(here['states']);
    const next: Json | undefined = Object.hasOwn(states, step) ? states[step] : undefined;
    if (next === undefined) return null;
    here = mapOf(next);
  }
  return here;
}
