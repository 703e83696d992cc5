/** Reads the file of a golden. Total: any text gives a golden, or every problem with its place. */
import { readRetryRule } from '../../core/recovery/declared.ts';
import type { Golden, GoldenCall, GoldenEvent, GoldenFailure, GoldenResult } from '../../core/recovery/golden.ts';
import {
  type ByEffect,
  defaultPlaybook,
  type Entry,
  type PartialPlaybook,
  type Probed,
  type RetryRule,
} from '../../core/recovery/playbook.ts';
import type { CredentialNow, EvidenceNow } from '../../core/recovery/plan.ts';
import {
  type CallState,
  type Compensation,
  type CompensationKind,
  type Effect,
  type EffectClass,
  effectClasses,
  type ErrorCode,
  type ToolError,
  type Verdict,
  verdicts,
} from '../../core/taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { ItemFailure } from '../../core/partial/partial-rule.ts';
import { createProblemList, type Problem, type Tell } from '../problem.ts';
import { placeOf, readShape } from '../shape/read-shape.ts';
import { mapOf, numberOf, textOf } from '../yaml/plain-values.ts';
import { readYaml, type Tree } from '../yaml/yaml-tree.ts';
import { goldenShape } from './golden-shape.ts';

export const goldenLimits = { maxChars: 1 << 20, maxNodes: 20_000, maxDepth: 64 } as const;

const defaultDeadlineMs = 900_000;
const defaultWindowMs = 86_400_000;
const defaultClock = '2026-01-01T00:00:00Z';

export interface ReadGolden {
  /** Null with problems. */
  readonly golden: Golden | null;
  readonly problems: readonly Problem[];
}

export function readGolden(source: string, file: string): ReadGolden {
  const list = createProblemList(file, source);
  const tree = readYaml(source, file, list.tell, goldenLimits);
  const found = (golden: Golden | null): ReadGolden => {
    const problems = list.problems();
    return { golden: problems.length === 0 ? golden : null, problems };
  };
  if (tree === null) {
    if (list.problems().length === 0) list.tell({ file, line: 1, column: 1 }, 'there is no golden', 'write one');
    return found(null);
  }
  const read = mapOf(readShape(tree, goldenShape, { tell: list.tell, env: undefined }));
  if (list.problems().length > 0) return found(null);
  return found(goldenOf(read, file, tree, list.tell));
}

function goldenOf(read: JsonObject, file: string, tree: Tree, tell: Tell): Golden {
  const clockMs = Date.parse(textOf(read['clock']) ?? defaultClock);
  if (Number.isNaN(clockMs)) tell(placeOf(tree, ['clock']), 'there is no such instant', `write ${defaultClock}`);
  const expect = mapOf(read['expect']);
  return {
    name: textOf(read['name']) ?? '',
    ref: file,
    call: callOf(mapOf(read['call'])),
    playbook: playbookOf(mapOf(read['playbook']), (path, problem, fix) => tell(placeOf(tree, path), problem, fix)),
    retry: retryOf(read['retry'], (problem) => tell(placeOf(tree, ['retry']), problem, 'correct it')),
    results: listIn(read['results']).map(resultOf),
    probe: textOf(read['probe']) as Probed['kind'] | null,
    evidence: textOf(read['evidence']) as EvidenceNow,
    credential: textOf(read['credential']) as CredentialNow,
    items: { retry: mapOf(read['items'])['retry'] === true, keyedByItem: mapOf(read['items'])['keys'] === 'item' },
    clockMs,
    chance: chancesIn(read['chance']),
    expect: {
      events: listIn(expect['events']).map(eventOf),
      outcome: expect['outcome'] === 'none' ? null : mapOf(expect['outcome']),
      sends: numberOf(expect['sends']) ?? 0,
      state: textOf(expect['state']) as CallState,
      effect: textOf(expect['effect']) as Effect,
    },
  };
}

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

const chancesIn = (value: Json | undefined): readonly number[] =>
  typeof value === 'number' ? [value] : listIn(value).flatMap((each) => (typeof each === 'number' ? [each] : []));

function callOf({ tool, effect, args, deadline, dedupe_window: window }: JsonObject): GoldenCall {
  return {
    tool: textOf(tool) ?? '',
    effect: textOf(effect) as EffectClass,
    args: args ?? {},
    deadlineMs: numberOf(deadline) ?? defaultDeadlineMs,
    dedupeWindowMs: numberOf(window) ?? (effect === 'keyed' ? defaultWindowMs : null),
  };
}

const silent: Omit<GoldenFailure, 'error'> = { effect: null, code: null, budgetLeft: true };

function resultOf(read: Json): GoldenResult {
  const fields = isObject(read) ? (read as JsonObject) : { status: read };
  const { status, effect, code, took, retry_budget: budget } = fields;
  const tookMs = numberOf(took) ?? 0;
  if (status === 'ok') return { tookMs, failure: null };
  if (status === 'partial') return { tookMs, failure: null, ...itemsOf(fields) };
  const said = { effect: textOf(effect) as Effect | null, code: textOf(code) as ErrorCode | null };
  return {
    tookMs,
    failure: { ...silent, ...said, budgetLeft: budget !== false, error: errorOf(status, fields['error']) },
  };
}

function itemsOf({ items, of }: JsonObject): Pick<GoldenResult, 'items'> {
  const failed = listIn(items).map((each, at): ItemFailure => {
    const { item, kind, subject, effect } = mapOf(each);
    return {
      item: textOf(item) ?? numberOf(item) ?? at,
      kind: textOf(kind) as ItemFailure['kind'],
      message: '',
      ...(typeof subject === 'string' ? { subject } : {}),
      ...(typeof effect === 'string' ? { effect: effect as Effect } : {}),
    };
  });
  return failed.length === 0 ? {} : { items: { failed, of: numberOf(of) } };
}

/** An error that nobody described is one that nobody recognises. */
function errorOf(status: Json | undefined, written: Json | undefined): ToolError {
  const fallback = status === 'timeout' ? 'timeout' : 'unknown';
  return { kind: fallback, message: '', ...mapOf(written) } as ToolError;
}

function eventOf(read: Json): GoldenEvent {
  if (typeof read === 'string') return { kind: read, fields: {} };
  const [kind = '', fields] = Object.entries(mapOf(read))[0] ?? [];
  return { kind, fields: mapOf(fields) };
}

function retryOf(written: Json | undefined, wrong: (problem: string) => void): RetryRule | null {
  if (written === undefined) return null;
  const read = readRetryRule(written);
  if (read.ok) return read.value;
  wrong(read.problem);
  return null;
}

type Wrong = (path: readonly string[], problem: string, fix: string) => void;

/** One entry for every effect class; what it does not say it takes from the default of its verdict. */
function playbookOf(written: JsonObject, wrong: Wrong): PartialPlaybook {
  const playbook: Partial<Record<Verdict, ByEffect<Entry>>> = {};
  for (const verdict of Object.keys(verdicts) as Verdict[]) {
    if (written[verdict] === undefined) continue;
    const fields = mapOf(written[verdict]);
    const pauses = Array.isArray(fields['backoff_ms']) ? fields['backoff_ms'].length : null;
    const most = numberOf(fields['max_attempts']);
    if (pauses !== null && most !== null && pauses !== most)
      wrong(['playbook', verdict, 'max_attempts'], `there are ${pauses} pauses`, `write ${pauses}, or leave it out`);
    const entry = { action: actionOf(verdict, fields), jitter: numberOf(fields['jitter']) ?? 0 };
    playbook[verdict] = { pure: entry, keyed: entry, probeable: entry, plain: entry };
  }
  return playbook;
}

function actionOf(verdict: Verdict, fields: JsonObject): Compensation {
  const kind = textOf(fields['kind']) as CompensationKind;
  const { action: known } = defaultPlaybook[verdict].plain;
  const reason = textOf(fields['reason']) ?? ('reason' in known ? known.reason : `the playbook says so for ${verdict}`);
  switch (kind) {
    case 'retry_with_backoff': {
      const fallback = known.kind === kind ? known.backoff_ms : [];
      const written = fields['backoff_ms'];
      const backoff_ms = Array.isArray(written) ? (written as readonly number[]) : fallback;
      return { kind, max_attempts: backoff_ms.length, backoff_ms };
    }
    case 'refresh_evidence':
      return { kind, then: fields['then'] === 'abort' ? 'abort' : 'retry' };
    case 'escalate_to_human':
      return { kind, queue: textOf(fields['queue']) ?? ('queue' in known ? known.queue : verdict) };
    case 'issue_reversal':
      return { kind, reason };
    case 'deprecate_tool_call':
      return { kind, reason, replan: true };
    default:
      return unreachable(kind);
  }
}

/** Null stands for every effect class. */
export interface WrittenPair {
  readonly verdict: Verdict;
  readonly effect: EffectClass | null;
}

/** The pairs of verdict and effect class that a playbook of recourse.yaml changes. */
export function writtenPairs(playbook: JsonObject): readonly WrittenPair[] {
  return (Object.keys(verdicts) as Verdict[]).flatMap((verdict): readonly WrittenPair[] => {
    const written = playbook[verdict];
    if (written === undefined) return [];
    const classes = (Object.keys(effectClasses) as EffectClass[]).filter((name) => name in mapOf(written));
    return classes.length === 0 ? [{ verdict, effect: null }] : classes.map((effect) => ({ verdict, effect }));
  });
}
