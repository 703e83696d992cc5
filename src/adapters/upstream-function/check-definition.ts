/**
 * Checks that a tool is defined so that it can run safely. Every mistake is reported at registration, with the tool's
 * name, the problem and the fix. Must not run any code of the author's.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultLimits } from '../../core/limits.ts';
import { type Reach, reaches } from '../../core/policy/policy.ts';
import { effectClasses, type EffectClass } from '../../core/taxonomy.ts';
import { secondsToMs } from '../../core/values/duration.ts';
import type { Reverse } from '../../core/reversal/declared-reverse.ts';
import type { DeclaredRead } from '../../core/evidence/declared-read.ts';
import type { DeclaredRecovery, OperationKey } from '../../core/recovery/declared.ts';
import { declaredRecovery } from './declared-recovery.ts';
import { sourceOfBody } from './isolate/body-source.ts';
import { declareSchema, type DeclaredSchema } from './declared-schema.ts';
import type { CheckedStage } from './stage/check-stage.ts';
import type { ToolContext } from './tool-context.ts';

export class ToolDefinitionError extends Error {
  override name = 'ToolDefinitionError';
  /** What is wrong and what to do, without the tool's name. */
  readonly problem: string;

  constructor(tool: unknown, problem: string, fix: string) {
    super(`tool ${typeof tool === 'string' ? `'${tool.slice(0, 128)}'` : 'without a name'}: ${problem}; ${fix}`);
    this.problem = `${problem}; ${fix}`;
  }
}

export type LocalBody = (args: never, context: ToolContext) => unknown;

/** A body of a workflow module, which runs in the thread of that module. */
export interface ThreadBody {
  readonly kind: 'thread';
  /** Of the module that mounts the workflow. */
  readonly url: string;
  readonly tool: string;
  /** The body as the gateway has read it. */
  readonly text: string;
}

/**
 * Where the body runs: in this thread, in that of its workflow's module, or in a worker from its source or its module.
 */
export type ToolBody =
  /** `neverBlocks`: its author says so. */
  | { readonly kind: 'here'; readonly run: LocalBody; readonly neverBlocks: boolean }
  | ThreadBody
  | { readonly kind: 'source'; readonly expression: string }
  | { readonly kind: 'module'; readonly url: string }
  /** In this thread, phase by phase. */
  | { readonly kind: 'stage'; readonly stage: CheckedStage };

export interface CheckedTool {
  readonly name: string;
  readonly description: string;
  readonly effectClass: EffectClass;
  /** Null: the gateway's default. */
  readonly timeoutMs: number | null;
  readonly dedupeWindowMs: number | null;
  /** Null: its answer ends the work. */
  readonly reportsWithinMs: number | null;
  /** Null: derived from its effect. */
  readonly reach: Reach | null;
  readonly input: DeclaredSchema;
  readonly output: DeclaredSchema | null;
  readonly body: ToolBody;
  /** If the body throws, it had no effect, unless a tool that it called had one. */
  readonly throwProvesNone: boolean;
  readonly recovery?: DeclaredRecovery;
  readonly operationKey?: OperationKey;
  readonly reverse?: Reverse;
  readonly evidence?: readonly DeclaredRead[];
}

/** A year: no upstream is known to remember keys for longer. */
const maxDedupeSeconds = 366 * 24 * 3_600;
/** As in recourse.yaml. */
const maxReportSeconds = 30 * 24 * 3_600;
/** A day. */
const maxQuarantineSeconds = 24 * 3_600;

export type Loose = Readonly<Record<string, unknown>>;

const knownKeys = [
  'name',
  'description',
  'input',
  'output',
  'effect',
  'dedupe_window_seconds',
  'timeout_seconds',
  'reports_within_seconds',
  'reach',
  'retry',
  'reconcile',
  'quarantine_seconds',
  'operation_key',
  'partial',
  'reverse',
  'evidence',
  'isolate',
  'blocking',
  'run',
];

export function checkDefinition(definition: unknown): CheckedTool {
  if (typeof definition !== 'object' || definition === null) {
    throw new ToolDefinitionError(null, 'its definition is not an object', 'write tool({ name, description, … })');
  }
  const given = definition as Loose;
  const { name, description } = given;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_./-]{1,128}$/.test(name)) {
    throw new ToolDefinitionError(name, 'its name is not usable', 'use 1 to 128 letters, digits, _ - . or /');
  }
  const unknown = Object.keys(given).filter((key) => !knownKeys.includes(key));
  if (unknown.length > 0) {
    throw new ToolDefinitionError(name, `it has no setting '${unknown[0]}'`, `known are ${knownKeys.join(', ')}`);
  }
  if (description !== undefined && typeof description !== 'string') {
    throw new ToolDefinitionError(name, 'its description is no text', 'say in a sentence what it does');
  }
  const effectClass = effectClassOf(name, given['effect']);
  return {
    name,
    description: description ?? '',
    effectClass,
    timeoutMs: timeoutOf(name, given),
    dedupeWindowMs: dedupeWindowOf(name, given, effectClass),
    reportsWithinMs: milliseconds(name, given, 'reports_within_seconds', maxReportSeconds),
    input: schemaOf(name, 'input', given['input']),
    output: given['output'] === undefined ? null : schemaOf(name, 'output', given['output']),
    body: bodyOf(name, given),
    throwProvesNone: false,
    reach: reachOf(name, given['reach']),
    ...declaredRecovery(
      { ...given, effect: effectClass },
      milliseconds(name, given, 'quarantine_seconds', maxQuarantineSeconds),
      (problem, fix) => {
        throw new ToolDefinitionError(name, problem, fix);
      },
    ),
  };
}

function reachOf(name: string, reach: unknown): Reach | null {
  if (reach === undefined) return null;
  const found = reaches.find((each) => each === reach);
  if (found !== undefined) return found;
  throw new ToolDefinitionError(name, 'its reach is unknown', `use one of ${reaches.join(', ')}`);
}

export function effectClassOf(name: string, effect: unknown): EffectClass {
  if (effect === undefined) return 'plain';
  if (typeof effect === 'string' && Object.hasOwn(effectClasses, effect)) return effect as EffectClass;
  throw new ToolDefinitionError(name, 'its effect is unknown', `use one of ${Object.keys(effectClasses).join(', ')}`);
}

export function timeoutOf(name: string, given: Loose, key = 'timeout_seconds'): number | null {
  return milliseconds(name, given, key, defaultLimits.maxDeadlineMs / 1_000);
}

function milliseconds(name: string, given: Loose, key: string, most: number): number | null {
  const seconds = given[key];
  if (seconds === undefined) return null;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= most) return secondsToMs(seconds);
  throw new ToolDefinitionError(name, `its ${key} is not usable`, `use a number of seconds above 0 and up to ${most}`);
}

export function dedupeWindowOf(name: string, given: Loose, effectClass: EffectClass): number | null {
  const window = milliseconds(name, given, 'dedupe_window_seconds', maxDedupeSeconds);
  if (effectClass === 'keyed' && window === null) {
    const fix = 'set dedupe_window_seconds to how long the upstream remembers ctx.idempotency_key';
    throw new ToolDefinitionError(name, "it is 'keyed' without a window", fix);
  }
  if (effectClass !== 'keyed' && window !== null) {
    const fix = "declare effect: 'keyed', or leave dedupe_window_seconds out";
    throw new ToolDefinitionError(name, `it is '${effectClass}' and has a window for keys`, fix);
  }
  return window;
}

export function schemaOf(name: string, key: string, schema: unknown): DeclaredSchema {
  if (schema === undefined) {
    throw new ToolDefinitionError(name, `it has no ${key} schema`, `give one, or ${key}: {} to accept anything`);
  }
  const declaration = declareSchema(schema);
  if (declaration.ok) return declaration.declared;
  throw new ToolDefinitionError(name, `its ${key} schema ${declaration.problem}`, declaration.fix);
}

export function bodyOf(name: string, given: Loose): ToolBody {
  const { run, isolate, blocking } = given;
  checkPlacement(name, isolate, blocking);
  if (isolate instanceof URL) return moduleBody(name, isolate, run);
  if (typeof run !== 'function') {
    throw new ToolDefinitionError(name, 'it has no run function', 'write run: async (args, ctx) => …');
  }
  const sort = sortOf(run);
  if (sort !== 'async' && sort !== 'sync') {
    throw new ToolDefinitionError(name, `its run is a ${sort}`, 'write run: async (args, ctx) => …');
  }
  if (isolate === true) return sourceBody(name, run);
  if (sort === 'sync' && blocking !== false) {
    const problem = 'its run is not an async function (one that returns a promise cannot be told apart beforehand)';
    const fix = 'write async, or isolate: true if it may block, or blocking: false if it never does';
    throw new ToolDefinitionError(name, problem, fix);
  }
  return { kind: 'here', run: run as LocalBody, neverBlocks: blocking === false };
}

function checkPlacement(name: string, isolate: unknown, blocking: unknown): void {
  if (isolate !== undefined && isolate !== true && !(isolate instanceof URL)) {
    throw new ToolDefinitionError(
      name,
      'its isolate is neither true nor a URL',
      'leave it out to run without a worker',
    );
  }
  if (blocking !== undefined && blocking !== false) {
    throw new ToolDefinitionError(name, 'blocking can only be false', 'use isolate: true for a body that blocks');
  }
  if (isolate !== undefined && blocking === false) {
    const fix = 'keep isolate for a body that may block, blocking: false for one that never does';
    throw new ToolDefinitionError(name, 'it sets isolate and blocking: false', fix);
  }
}

function sourceBody(name: string, run: object): ToolBody {
  const source = sourceOfBody(run);
  if (source.ok) return { kind: 'source', expression: source.expression };
  const fix = 'write it self-contained, or name its module: isolate: new URL(…, import.meta.url)';
  throw new ToolDefinitionError(name, `its run ${source.problem}`, fix);
}

function moduleBody(name: string, url: URL, run: unknown): ToolBody {
  if (run !== undefined) {
    const fix = 'leave run out and export it as default or as run from the module';
    throw new ToolDefinitionError(name, 'it has both a module and a run function', fix);
  }
  if (url.protocol !== 'file:') {
    throw new ToolDefinitionError(
      name,
      'its module is not a file',
      "use isolate: new URL('./body.ts', import.meta.url)",
    );
  }
  if (!existsSync(fileURLToPath(url))) {
    throw new ToolDefinitionError(name, `its module ${url.pathname} does not exist`, 'correct the path');
  }
  return { kind: 'module', url: url.href };
}

function sortOf(run: object): 'async' | 'sync' | 'generator' | 'class' {
  const tag = Object.prototype.toString.call(run);
  if (tag === '[object AsyncFunction]') return 'async';
  if (tag.endsWith('GeneratorFunction]')) return 'generator';
  return Function.prototype.toString.call(run).startsWith('class') ? 'class' : 'sync';
}
