/** Finds the stretches of time of a call in its records: waits for a person, attempts, waits between them. */
import type { CallRecord } from '../../../../src/core/http/look/call-look.ts';
import { isObject, type JsonObject } from '../../../../src/core/values/json.ts';

export interface Stretch {
  readonly kind: 'person' | 'attempt' | 'wait' | 'doubt';
  readonly name: string;
  /** Since the first record. */
  readonly fromMs: number;
  /** Null if it goes on. */
  readonly toMs: number | null;
}

type Kind = Stretch['kind'];

const begins: Readonly<Record<string, Kind | undefined>> = {
  held: 'person',
  dispatched: 'attempt',
  attempt_started: 'attempt',
  retry_planned: 'wait',
  doubted: 'doubt',
};

/** Records that end whatever goes on, and begin nothing. */
const ends = new Set(['settled', 'prepared', 'cancelled', 'expired', 'approval_denied', 'approval_expired']);

export function stretchesOf(records: readonly CallRecord[]): readonly Stretch[] {
  const startMs = Date.parse(records[0]?.at ?? '');
  const found: Stretch[] = [];
  let open = null as Omit<Stretch, 'toMs'> | null;
  for (const { kind, at, body } of records) {
    const atMs = Date.parse(at) - startMs;
    const begun: Kind | undefined = begins[kind];
    // The dispatch of a retry and its start are one.
    if (begun !== undefined && open?.kind === begun && begun === 'attempt') continue;
    if (open !== null && (begun !== undefined || ends.has(kind))) {
      found.push({ ...open, toMs: atMs });
      open = null;
    }
    if (begun !== undefined) open = { kind: begun, name: nameOf(begun, isObject(body) ? body : {}), fromMs: atMs };
  }
  return open === null ? found : [...found, { ...open, toMs: null }];
}

function nameOf(kind: Kind, body: JsonObject): string {
  if (kind === 'person') return 'waits for a person';
  if (kind === 'wait') return 'waits to be sent again';
  if (kind === 'doubt') return 'in doubt';
  const { attempt } = body;
  return typeof attempt === 'number' ? `attempt ${attempt}` : 'attempt';
}
