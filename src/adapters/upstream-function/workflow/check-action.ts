/**
 * Checks the definition of an action, by the same rules as a tool plus what belongs to a step. Finds every problem.
 * Must not run any code of the author's.
 */
import { isObject, type Json } from '../../../core/values/json.ts';
import { nearest } from '../../../core/values/nearest.ts';
import type { EffectClass } from '../../../core/taxonomy.ts';
import {
  bodyOf,
  dedupeWindowOf,
  effectClassOf,
  schemaOf,
  timeoutOf,
  ToolDefinitionError,
  type CheckedTool,
  type Loose,
} from '../check-definition.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { failedOutcome, skippedOutcome } from '../../../core/workflow/step-error.ts';
import { type CheckedStage, checkStage } from '../stage/check-stage.ts';
import type { DeclaredSchema } from '../declared-schema.ts';
import { messageOf } from '../describe-throw.ts';
import type { AnyValidator } from './run-validators.ts';

export interface CheckedAction {
  readonly name: string;
  readonly description: string;
  /** Null: that of the tool it is bound to. */
  readonly input: DeclaredSchema | null;
  readonly output: DeclaredSchema | null;
  /** Null: what the tool it is bound to says. */
  readonly effectClass: EffectClass | null;
  readonly timeoutMs: number | null;
  readonly dedupeWindowMs: number | null;
  /** What runs: a function, or a tool of the gateway by its name. */
  readonly runs:
    | {
        readonly kind: 'body';
        readonly body: CheckedTool['body'];
        readonly isAtomic: boolean;
        /** Its author says so, or has said nothing about its effect. */
        readonly throwProvesNone: boolean;
      }
    | { readonly kind: 'tool'; readonly tool: string };
  /** Null: as its effect class has it. */
  readonly overlap: boolean | null;
  readonly operationKey: ((inputs: Json) => unknown) | null;
  readonly validators: readonly AnyValidator[];
  readonly update: ((step: never) => unknown) | null;
}

const toolKeys = [
  'description',
  'input',
  'output',
  'run',
  'effect',
  'dedupe_window_seconds',
  'timeout_seconds',
  'isolate',
  'blocking',
];
const knownKeys = [...toolKeys, 'tool', 'stage', 'atomic', 'overlap', 'operation_key', 'validators', 'update'];
/** They are about a body; a tool of the gateway has said its own. */
const bodyKeys = ['run', 'isolate', 'blocking', 'atomic', 'output'];

const anyObject = { type: 'object' };

export type Report = (problem: string) => void;

/** Null if anything is wrong, which was reported. */
export function checkAction(name: string, definition: unknown, report: Report): CheckedAction | null {
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name) || name.startsWith('xstate.')) {
    report('its name is not usable; use 1 to 64 letters, digits, _ - or .');
    return null;
  }
  if (!isObject(definition)) {
    report('its definition is not an object; write { description, input, run }');
    return null;
  }
  let isRight = true;
  const complain: Report = (problem) => {
    isRight = false;
    report(problem);
  };
  const part = <Part>(read: () => Part, otherwise: Part): Part => {
    try {
      return read();
    } catch (thrown) {
      complain(thrown instanceof ToolDefinitionError ? thrown.problem : `it cannot be read: ${messageOf(thrown)}`);
      return otherwise;
    }
  };
  const given: Loose = definition;
  for (const key of Object.keys(given)) if (!knownKeys.includes(key)) complain(unknownKey(key));
  const { description, tool, input, output } = given;
  const effect = part(() => (given['effect'] === undefined ? null : effectClassOf(name, given['effect'])), null);
  const isBound = tool !== undefined;
  const checked = {
    name,
    description: descriptionOf(description, complain),
    input: part(() => (input === undefined && isBound ? null : schemaOf(name, 'input', input ?? anyObject)), null),
    output: part(() => (output === undefined || isBound ? null : schemaOf(name, 'output', output)), null),
    effectClass: effect ?? (isBound ? null : 'plain'),
    timeoutMs: part(() => timeoutOf(name, given), null),
    dedupeWindowMs: part(
      () => (isBound && effect === null ? null : dedupeWindowOf(name, given, effect ?? 'plain')),
      null,
    ),
    runs: part(() => runsOf(name, given, complain), null),
    overlap: flag(given, 'overlap', complain),
    operationKey: code(given, 'operation_key', complain) as CheckedAction['operationKey'],
    validators: validatorsOf(given['validators'], complain),
    update: code(given, 'update', complain) as CheckedAction['update'],
  };
  const atomic = flag(given, 'atomic', complain);
  const { runs } = checked;
  if (!isRight || runs === null) return null;
  if (runs.kind === 'tool') return { ...checked, runs };
  if (runs.body.kind === 'stage') return { ...checked, ...ofStage, runs };
  const throwProvesNone = atomic ?? effect === null;
  return { ...checked, runs: { ...runs, isAtomic: atomic === true, throwProvesNone } };
}

function descriptionOf(given: unknown, complain: Report): string {
  if (given === undefined || typeof given === 'string') return given ?? '';
  complain('its description is no text; say in a sentence what it does');
  return '';
}

/** A stage is run again after a crash and does each of its calls once: like a write that its upstream deduplicates. */
const ofStage = {
  effectClass: 'keyed',
  dedupeWindowMs: defaultLimits.keyRetentionMs,
} as const;

/** They are about a body, or write to the context, which only setup does. */
const notOfStages = ['run', 'tool', 'isolate', 'blocking', 'atomic', 'effect', 'dedupe_window_seconds', 'update'];

function runsOf(name: string, given: Loose, complain: Report): CheckedAction['runs'] | null {
  const { stage } = given;
  if (stage === undefined) return given['tool'] === undefined ? ownBody(name, given) : boundTo(given, complain);
  for (const key of notOfStages)
    if (given[key] !== undefined) complain(`it has a stage and '${key}'; leave '${key}' out`);
  const checked = checkStage(stage, complain);
  if (checked === null) return null;
  return { kind: 'body', body: { kind: 'stage', stage: checked }, isAtomic: false, throwProvesNone: false };
}

/** How its steps may end beside their success. */
export function outcomesOf(action: CheckedAction | null): readonly string[] {
  const stage = action === null ? null : stageOf(action);
  if (stage === null) return [failedOutcome];
  return [failedOutcome, ...(stage.unrecoverable === 'skip' ? [skippedOutcome] : []), ...stage.events];
}

export const stageOf = ({ runs }: CheckedAction): CheckedStage | null =>
  runs.kind === 'body' && runs.body.kind === 'stage' ? runs.body.stage : null;

function boundTo(given: Loose, complain: Report): CheckedAction['runs'] | null {
  const { tool } = given;
  for (const key of bodyKeys) {
    if (given[key] !== undefined) complain(`it is bound to a tool and has '${key}'; leave one of the two out`);
  }
  if (given['effect'] === undefined && given['dedupe_window_seconds'] !== undefined) {
    complain("it has dedupe_window_seconds and no effect; declare effect: 'keyed', or leave both to the tool");
  }
  if (typeof tool === 'string' && tool !== '' && tool.length <= 128) return { kind: 'tool', tool };
  complain("its tool is no name; write tool: 'payments/refund'");
  return null;
}

function ownBody(name: string, given: Loose): CheckedAction['runs'] {
  if (given['run'] === undefined && given['isolate'] === undefined) {
    const fix = "write run: async (inputs, ctx) => …, or tool: 'payments/refund'";
    throw new ToolDefinitionError(name, 'it has neither run nor tool nor stage', fix);
  }
  return { kind: 'body', body: bodyOf(name, given), isAtomic: false, throwProvesNone: false };
}

function flag(given: Loose, key: string, complain: Report): boolean | null {
  const value = given[key];
  if (value === undefined) return null;
  if (typeof value !== 'boolean') complain(`its ${key} is neither true nor false`);
  return value === true;
}

function code(given: Loose, key: string, complain: Report): unknown {
  const value = given[key];
  if (value === undefined) return null;
  if (typeof value === 'function') return value;
  complain(`its ${key} is not a function`);
  return null;
}

export function validatorsOf(given: unknown, complain: Report): readonly AnyValidator[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (!list.every((one) => typeof one === 'function')) complain('one of its validators is not a function');
  return list as readonly AnyValidator[];
}

export function unknownKey(key: string, known: readonly string[] = knownKeys): string {
  const near = nearest(key, known);
  const hint = near === null ? `known are ${known.join(', ')}` : `did you mean '${near}'?`;
  return `it has no setting '${key.slice(0, 80)}'; ${hint}`;
}
