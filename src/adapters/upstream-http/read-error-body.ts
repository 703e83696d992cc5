/**
 * Reads the body of a refusal: `application/problem+json`, `google.rpc.Status`, and errors in the way of Stripe. Only
 * declared fields are read. Codes decide what a conflict is about; words are for people.
 */
import { isObject } from '../../core/values/json.ts';
import type { ConflictCodes } from './http-config.ts';
import { readDuration } from '../shared/http/retry-after.ts';

export interface ErrorBody {
  /** What the upstream says; null if no field of it says anything. */
  readonly words: string | null;
  /** Machine-readable, the most specific first. */
  readonly codes: readonly string[];
  readonly retryAfterSeconds: number | null;
}

const nothing: ErrorBody = { words: null, codes: [], retryAfterSeconds: null };
const maxDetails = 50;
const maxCodeChars = 200;

export function readErrorBody(body: unknown, maxRetryAfterSeconds: number): ErrorBody {
  if (!isObject(body)) return nothing;
  const inner = isObject(body['error']) ? body['error'] : {};
  const listed = [body['details'], inner['details']].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const details = listed.slice(0, maxDetails).filter(isObject);
  const texts = [
    ...details.map(({ reason }) => reason),
    ...[inner, body].flatMap(({ code, reason, status, type }) => [code, reason, status, type, lastStep(type)]),
    body['error'],
  ];
  const delays = details.flatMap((detail) => {
    const isRetryInfo = typeof detail['@type'] === 'string' && detail['@type'].endsWith('/google.rpc.RetryInfo');
    return isRetryInfo ? (readDuration(detail['retryDelay'], maxRetryAfterSeconds) ?? []) : [];
  });
  return {
    words: wordsIn([inner['message'], body['detail'], body['message'], body['error_description'], body['title']]),
    codes: texts.filter((text): text is string => typeof text === 'string' && text.length <= maxCodeChars),
    retryAfterSeconds: delays[0] ?? null,
  };
}

function wordsIn(fields: readonly unknown[]): string | null {
  return fields.find((field): field is string => typeof field === 'string' && field.trim() !== '') ?? null;
}

/** The type of a problem is an address; its last step is the code. */
function lastStep(type: unknown): unknown {
  return typeof type === 'string' ? type.split(/[/#:]/).at(-1) : null;
}

/** Known without a configuration: the codes of Stripe, and plain names for what the IETF draft describes. */
const knownCodes: ConflictCodes = {
  in_flight: ['idempotency_key_in_use', 'idempotency_key_in_flight', 'idempotency_in_flight'],
  completed: ['idempotency_key_completed', 'idempotency_completed'],
  mismatch: ['idempotency_key_mismatch', 'idempotency_mismatch', 'idempotency_key_reused', 'idempotency_error'],
  evidence: ['evidence_stale', 'stale_evidence'],
};

export type ConflictSubject = 'in_flight' | 'completed' | 'mismatch';
const subjects: readonly ConflictSubject[] = ['in_flight', 'completed', 'mismatch'];

/** The first code that says something; the configuration counts before what is known anyway. */
export function conflictSubject(codes: readonly string[], configured: ConflictCodes): ConflictSubject | null {
  for (const known of [configured, knownCodes])
    for (const code of codes) {
      const found = subjects.find((subject) => known[subject].includes(code));
      if (found !== undefined) return found;
    }
  return null;
}

export function isStaleEvidence(codes: readonly string[], { evidence }: ConflictCodes): boolean {
  return evidence.includes('*') || codes.some((code) => evidence.includes(code) || knownCodes.evidence.includes(code));
}
