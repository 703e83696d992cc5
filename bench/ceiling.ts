/**
 * What the disk and the worker allow: the rows and bytes of a real call, taken from a store that made one, written
 * through a worker of the same kind with the same group commit, and no logic in between.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DatabaseSync } from 'node:sqlite';
import type { RawRow } from './ceiling-worker.ts';

type Values = Record<string, string | number | null | Uint8Array>;

interface Template {
  readonly call: Values;
  readonly timer: Values;
  readonly records: readonly Values[];
  readonly payloads: readonly Values[];
  /** The workflow of the call's session and its newest state; null for a call that is no step. */
  readonly step: { readonly session: Values; readonly state: string } | null;
}

/** Reads the newest finished call of a store: its row, its three records, its payloads. */
export function templateOf(file: string): Template {
  const database = new DatabaseSync(file, { readOnly: true });
  const call = database
    .prepare("SELECT * FROM calls WHERE state = 'SUCCEEDED' ORDER BY id DESC LIMIT 1")
    .get() as Values;
  const records = database
    .prepare('SELECT * FROM journal WHERE call_id = ? ORDER BY at')
    .all(call['id'] ?? '') as Values[];
  const payloads = database
    .prepare('SELECT * FROM payloads WHERE id BETWEEN ? AND ? ORDER BY id')
    .all(call['args_payload'] ?? 0, call['reply_payload'] ?? 0) as Values[];
  const session = database.prepare('SELECT * FROM sessions WHERE id = ?').get(call['session'] ?? '') as Values;
  const state = database
    .prepare('SELECT text FROM snapshots WHERE session = ? ORDER BY seq DESC LIMIT 1')
    .get(call['session'] ?? '') as { text: string } | undefined;
  database.close();
  const step = state === undefined ? null : { session, state: state.text };
  return { step, call, timer: { due_at: Number(call['created_at']) + 37_000 }, records, payloads };
}

/** The two commits of call number `n`. Only what must differ differs: ids and places. */
function commitsOf({ call, timer, records, payloads, step }: Template, n: number): readonly [RawRow[], RawRow[]] {
  const id = `${String(call['id']).slice(0, -10)}${String(n).padStart(10, '0')}`;
  const at = 2 ** 40 + n * 3;
  const payload = 2 ** 40 + n * 2;
  const value = (name: string) => call[name] ?? null;
  const record = (index: number, payloadId: number | null): RawRow => {
    const { kind, header, hash } = records[index] as Values;
    return ['insertRecord', at + index, kind ?? null, id, header ?? null, hash ?? null, payloadId];
  };
  const parcel = (index: number): RawRow => {
    const { salt, bytes } = payloads[index] as Values;
    return ['insertPayload', payload + index, salt ?? null, bytes ?? null];
  };
  const due = timer['due_at'] ?? 0;
  const identity = ['tenant', 'agent', 'session', 'turn', 'tool', 'key', 'fingerprint', 'effect_class'].map(value);
  // Each commit numbers its own records: an update to the same values would not be written.
  const numbers = (seq: number, entries: number) => [seq, entries, value('updated_at')] as const;
  const entry = (index: number): RawRow => ['insertEntry', value('session'), n * 3 + index, at + index];
  /** A step takes its turn with the first commit and gives it back with the second. */
  const session = (seq: number, entries: number, taken: string | null): RawRow => {
    if (step === null) return ['updateSession', ...numbers(seq, entries), value('session')];
    const about = [
      'open',
      step.session['manifest'] ?? null,
      taken,
      taken === null ? null : 'ring/advance',
      null,
      null,
      step.session['pinned_at'] ?? 0,
    ] as const;
    return ['updateWorkflow', ...numbers(seq, entries), ...about, value('session')];
  };
  const taking = step === null ? [] : [entry(0), entry(1)];
  const moving: RawRow[] = step === null ? [] : [entry(2), ['insertSnapshot', value('session'), n, step.state]];
  const intent: RawRow[] = [
    [
      'insertCall',
      id,
      ...identity,
      'DISPATCHED',
      1,
      value('owner'),
      0,
      value('created_at'),
      value('deadline_at'),
      due,
      0,
      value('updated_at'),
      value('token'),
      at + 1,
      payload,
      null,
      null,
    ],
    ['insertTimer', due, id],
    record(0, payload),
    parcel(0),
    record(1, null),
    session(n, n * 3 + 2, id),
    ...taking,
  ];
  const outcome: RawRow[] = [
    [
      'updateCall',
      value('effect_class'),
      'SUCCEEDED',
      1,
      value('owner'),
      0,
      value('deadline_at'),
      null,
      n,
      value('updated_at'),
      `t${n}`,
      at + 2,
      null,
      payload + 1,
      at + 2,
      id,
      'DISPATCHED',
      1,
      value('owner'),
      due,
    ],
    ['deleteTimer', due, id],
    record(2, payload + 1),
    parcel(1),
    session(n + 1, n * 3 + 3, null),
    ...moving,
  ];
  return [intent, outcome];
}

export async function openCeiling(file: string, template: Template) {
  const worker = new Worker(new URL('./ceiling-worker.ts', import.meta.url), { workerData: { file } });
  await once(worker, 'message');
  const waiting: { rows: readonly RawRow[]; done: () => void }[] = [];
  let underWay: (() => void)[] = [];
  const pump = () => {
    if (underWay.length > 0 || waiting.length === 0) return;
    const batch = waiting.splice(0, 512);
    underWay = batch.map(({ done }) => done);
    worker.postMessage(batch.map(({ rows }) => rows));
  };
  worker.on('message', () => {
    const done = underWay;
    underWay = [];
    for (const resolve of done) resolve();
    pump();
  });
  const write = (rows: readonly RawRow[]) =>
    new Promise<void>((done) => {
      waiting.push({ rows, done });
      pump();
    });
  // Without its row, the update of the session would cost nothing.
  const { step } = template;
  const pinned = [step?.session['workflow'] ?? null, step?.session['manifest'] ?? null, null] as const;
  const standing = step === null ? 1 : 0;
  const identity = [template.call['session'] ?? null, 'default', 'local', standing] as const;
  await write([['insertSession', ...identity, 'open', 0, 0, 0, 0, ...pinned, 0]]);
  let next = 0;
  return {
    /** `before`: what is done before each of the two commits. */
    async call(before: () => Promise<void> = () => Promise.resolve()): Promise<void> {
      const [intent, outcome] = commitsOf(template, next++);
      await before();
      await write(intent);
      await before();
      await write(outcome);
    },
    async close(): Promise<void> {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}
