/**
 * Reads from the records of a call what was tried before, so that whoever takes it up goes on where another process
 * stopped. Pure; a record that cannot be read counts as nothing.
 */
import { isObject } from '../values/json.ts';
import { kinds, type ToolError, type Verdict, verdicts } from '../taxonomy.ts';
import { type History, nothingTried } from './plan.ts';

interface RecordRead {
  readonly kind: string;
  readonly body: string;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

export function readHistory(records: readonly RecordRead[]): History {
  let { first, last }: History = nothingTried;
  const retries: Partial<Record<Verdict, number>> = {};
  for (const { kind, body, payloads } of records) {
    const fields = fieldsOf(body);
    const verdict = verdictOf(fields['verdict']);
    if (kind === 'attempt_finished') first ??= errorOf(payloads.find(({ part }) => part === 'error')?.text, fields);
    if (kind === 'failure_classified' && verdict !== null) last = verdict;
    // A compensation that was selected and not followed by a new attempt ended the call.
    if (kind === 'attempt_scheduled' && last !== null) retries[last] = (retries[last] ?? 0) + 1;
  }
  return { first, last, retries };
}

const verdictOf = (value: unknown): Verdict | null =>
  typeof value === 'string' && value in verdicts ? (value as Verdict) : null;

/** A message that was erased leaves the kind. */
function errorOf(text: string | null | undefined, fields: Readonly<Record<string, unknown>>): ToolError {
  const stored = text === null || text === undefined ? {} : fieldsOf(text);
  const kind = fields['kind'];
  const known = typeof kind === 'string' && kind in kinds ? (kind as ToolError['kind']) : 'unknown';
  return { message: '', ...stored, kind: known } as ToolError;
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
