/**
 * Converts a YAML workflow into a machine and options as `mount` takes them. Reports problems between its parts:
 * unknown targets, actions and fields, and wrong expressions.
 */
import { type AnyStateMachine, createMachine } from 'xstate';
import type { CelFieldType } from '../../core/cel/check-types.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { WrittenConfig } from '../config.ts';
import type { Tell } from '../problem.ts';
import { keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import { mapOf, numberOf, textOf, withoutGaps } from '../yaml/plain-values.ts';
import { readActions, seconds, type WrittenAction } from './workflow-actions.ts';
import { createExpressions, inputTypes } from './workflow-expressions.ts';
import { stageOutcomes } from './workflow-stages.ts';
import { readStates } from './workflow-states.ts';

/** The options of `mount`. */
export interface WrittenOptions {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly actions: Readonly<Record<string, WrittenAction>>;
  readonly actionTimeoutSeconds?: number;
  readonly state?: 'full' | 'none' | readonly string[];
  readonly refusals?: { readonly sharpen_after?: number; readonly stop_after?: number };
  readonly debug_messages?: boolean;
  readonly max_state_bytes?: number;
}

export interface WrittenWorkflow {
  readonly machine: AnyStateMachine;
  readonly options: WrittenOptions;
}

/** Null if anything is wrong, which has been reported. */
export function workflowFromYaml(written: WrittenConfig, tell: Tell): WrittenWorkflow | null {
  let complaints = 0;
  const count: Tell = (...problem) => {
    complaints += 1;
    tell(...problem);
  };
  const { name, definition, tree } = written;
  const declared = mapOf(definition['actions']);
  const fields = contextFields(definition);
  const context = { fields: Object.fromEntries(fields.map((field): [string, CelFieldType] => [field, 'dyn'])) };
  const begins = written.isWhole && 'context' in definition ? mapOf(definition['context']) : null;
  const parts = { tree, tell: count, expressions: createExpressions(tree, count, begins), context };
  const actions = readActions(declared, parts);
  const inputs = new Map(Object.entries(declared).map(([action, each]) => [action, inputTypes(mapOf(each)['input'])]));
  const outcomes = new Map(
    Object.entries(declared).map(([action, each]) => [action, stageOutcomes(mapOf(each)['stage'])]),
  );
  const { config, guards, actions: assigns } = readStates({ ...parts, name, definition, inputs, outcomes });
  if (written.isWhole) checkUse(written, fields, count);
  if (complaints > 0 || !written.isWhole) return null;
  const state = definition['state'];
  const { debug_messages } = definition;
  const options = withoutGaps({
    name,
    version: textOf(definition['version']),
    description: textOf(definition['description']),
    actions,
    actionTimeoutSeconds: seconds(definition['action_timeout']),
    state: (state ?? null) as WrittenOptions['state'] | null,
    refusals: 'refusals' in definition ? mapOf(definition['refusals']) : null,
    debug_messages: typeof debug_messages === 'boolean' ? debug_messages : null,
    max_state_bytes: numberOf(definition['max_state_bytes']),
  });
  const machine = createMachine(config as never, { guards, actions: assigns } as never) as unknown as AnyStateMachine;
  return { machine, options: options as WrittenOptions };
}

/** Every field that the context starts with or that is assigned anywhere. */
function contextFields(definition: JsonObject): readonly string[] {
  const fields = new Set(Object.keys(mapOf(definition['context'])));
  for (const action of Object.values(mapOf(definition['actions'])))
    for (const field of Object.keys(mapOf(mapOf(action)['update']))) fields.add(field);
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return void value.forEach(visit);
    for (const [key, each] of Object.entries(value)) {
      if (key === 'assign') for (const field of Object.keys(mapOf(each))) fields.add(field);
      visit(each);
    }
  };
  visit(mapOf(definition['states']));
  visit(mapOf(definition['on']));
  return [...fields];
}

function checkUse({ definition, tree }: WrittenConfig, fields: readonly string[], tell: Tell): void {
  const { state } = definition;
  if (Array.isArray(state))
    for (const [index, field] of state.entries())
      if (typeof field === 'string' && !fields.includes(field)) {
        const near = nearest(field, fields);
        const fix =
          near === null ? `use one of ${fields.join(', ') || 'none: the context is empty'}` : `did you mean ${near}?`;
        tell(placeOf(tree, ['state', index]), `the context has no field '${field}'`, fix);
      }
  const used = new Set(actionsIn(definition));
  for (const action of Object.keys(mapOf(definition['actions'])))
    if (!used.has(action))
      tell(
        keyPlaceOf(tree, ['actions', action]),
        `no state has an edge for the action '${action}'`,
        `add it under on of a state, or leave it out`,
      );
}

function actionsIn(state: JsonObject): readonly string[] {
  const below = Object.values(mapOf(state['states'])).flatMap((each) => actionsIn(mapOf(each)));
  return [...Object.keys(mapOf(state['on'])), ...below];
}
