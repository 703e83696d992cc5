/**
 * The steps by which what is done about failures is changed: feedback about a call, a proposal, a release, a rollback.
 * Each step is a record of the journal that names the hash of the step before it. Pure.
 */
import type { CallId } from '../call/call.ts';
import { isObject, type JsonObject } from '../values/json.ts';

/** The steps are filed under this name, as the records of a call are under its id. No call has it. */
export const improvementSubject = 'improvement' as CallId;

/** More are not read; a store that has as many takes no more. */
export const maxSteps = 10_000;

export const stepKinds = [
  'playbook_adopted',
  'playbook_forced',
  'feedback_added',
  'change_proposed',
  'change_released',
  'release_rolled_back',
] as const;
export type StepKind = (typeof stepKinds)[number];

/** What was in force when the store was new, or had no steps yet. */
export interface Adopted {
  readonly kind: 'playbook_adopted';
  readonly playbook: string;
}

/** A playbook that no release covers was put in force. */
export interface Forced {
  readonly kind: 'playbook_forced';
  readonly playbook: string;
}

export interface FeedbackAdded {
  readonly kind: 'feedback_added';
  readonly id: string;
  readonly call: string;
  readonly tool: string;
}

export interface ChangeProposed {
  readonly kind: 'change_proposed';
  readonly id: string;
  readonly feedback: readonly string[];
  /** Hashes of texts that the store keeps: of the playbook as it would be, of what was proposed, of the report. */
  readonly playbook: string;
  readonly change: string;
  readonly report: string;
  /** The hash of the policy as it would be; null if it stays. */
  readonly policy: string | null;
  /** The playbook that it would replace. */
  readonly base: string;
  /** How many goldens would come out otherwise. */
  readonly breaks: number;
}

export interface ChangeReleased {
  readonly kind: 'change_released';
  readonly id: string;
  readonly proposal: string;
  readonly playbook: string;
  readonly policy: string | null;
  /** In spite of goldens that come out otherwise. */
  readonly forced: boolean;
}

export interface RolledBack {
  readonly kind: 'release_rolled_back';
  readonly id: string;
  readonly release: string;
  /** The one that is in force again. */
  readonly playbook: string;
}

export type Step = Adopted | Forced | FeedbackAdded | ChangeProposed | ChangeReleased | RolledBack;

/** What every step carries beside its own fields. */
export interface StepFields {
  readonly tenant: string;
  readonly by: string;
  /** From 1. */
  readonly step: number;
  /** The hash of the body of the step before; null for the first. */
  readonly previous: string | null;
}

export function bodyOfStep({ kind: _kind, ...own }: Step, fields: StepFields): JsonObject {
  return { ...fields, ...own } as unknown as JsonObject;
}

/** Null if the body is not that of such a step. */
export function readStep(kind: string, text: string): (Step & StepFields) | null {
  const fields = shapes[kind as StepKind] as Shape | undefined;
  const body = parsed(text);
  if (fields === undefined || body === null) return null;
  const wanted: Shape = { ...common, ...fields };
  const isWhole = Object.entries(wanted).every(([name, fits]) => fits(body[name]));
  return isWhole ? ({ ...body, kind } as unknown as Step & StepFields) : null;
}

type Fits = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Fits>>;

const text: Fits = (value) => typeof value === 'string';
const whole: Fits = (value) => Number.isSafeInteger(value);
const truth: Fits = (value) => typeof value === 'boolean';
const textOrNull: Fits = (value) => value === null || text(value);
const texts: Fits = (value) => Array.isArray(value) && value.every(text);

const common: Shape = { tenant: text, by: text, step: whole, previous: textOrNull };

const shapes: Readonly<Record<StepKind, Shape>> = {
  playbook_adopted: { playbook: text },
  playbook_forced: { playbook: text },
  feedback_added: { id: text, call: text, tool: text },
  change_proposed: {
    id: text,
    feedback: texts,
    playbook: text,
    change: text,
    report: text,
    policy: textOrNull,
    base: text,
    breaks: whole,
  },
  change_released: { id: text, proposal: text, playbook: text, policy: textOrNull, forced: truth },
  release_rolled_back: { id: text, release: text, playbook: text },
};

function parsed(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
