/**
 * Measures what the disk and the thread allow: the rows of a real call, taken from a store, written by a thread of the
 * same kind with the same group commit and no logic in between.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DatabaseSync } from 'node:sqlite';
import type { RawRow } from './ceiling-worker.ts';

type Value = string | number | null | Uint8Array;
type Values = Record<string, Value>;

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

/** The two commits of call number `n`. Only ids and positions differ from the template. */
function commitsOf(template: Template, n: number): readonly [RawRow[], RawRow[]] {
  const { call, timer, step } = template;
  const { id, at, payload } = numbersOf(call, n);
  const value = (name: string) => call[name] ?? null;
  const due = timer['due_at'] ?? 0;
  const entry = (index: number): RawRow => ['insertEntry', value('session'), n * 3 + index, at + index];
  const intent: RawRow[] = [
    ['insertCall', ...insertedColumns(template, n)],
    ['insertTimer', due, id],
    recordRow(template, n, 0, payload),
    payloadRow(template, n, 0),
    recordRow(template, n, 1, null),
    sessionRow(template, [n, n * 3 + 2], id),
    ...(step === null ? [] : [entry(0), entry(1)]),
  ];
  const outcome: RawRow[] = [
    ['updateCall', ...updatedColumns(template, n)],
    ['deleteTimer', due, id],
    recordRow(template, n, 2, payload + 1),
    payloadRow(template, n, 1),
    sessionRow(template, [n + 1, n * 3 + 3], null),
  ];
  if (step !== null) outcome.push(entry(2), ['insertSnapshot', value('session'), n, step.state]);
  return [intent, outcome];
}

const numbersOf = (call: Values, n: number) => ({
  id: `${String(call['id']).slice(0, -10)}${String(n).padStart(10, '0')}`,
  at: 2 ** 40 + n * 3,
  payload: 2 ** 40 + n * 2,
});

const columns = (values: Values, ...names: readonly string[]): Value[] => names.map((name) => values[name] ?? null);

function insertedColumns({ call, timer }: Template, n: number): Value[] {
  const { id, at, payload } = numbersOf(call, n);
  const identity = columns(call, 'tenant', 'agent', 'session', 'turn', 'tool', 'key', 'fingerprint', 'effect_class');
  const state = ['DISPATCHED', 1, ...columns(call, 'owner'), 0, ...columns(call, 'created_at', 'deadline_at')];
  const written = [timer['due_at'] ?? 0, 0, ...columns(call, 'updated_at', 'token'), at + 1, payload, null, null];
  return [id, ...identity, ...state, ...written];
}

function updatedColumns({ call, timer }: Template, n: number): Value[] {
  const { id, at, payload } = numbersOf(call, n);
  const [owner = null, effectClass = null] = columns(call, 'owner', 'effect_class');
  const state = [effectClass, 'SUCCEEDED', 1, owner, 0, ...columns(call, 'deadline_at'), null];
  const written = [n, ...columns(call, 'updated_at'), `t${n}`, at + 2, null, payload + 1, at + 2];
  return [...state, ...written, id, 'DISPATCHED', 1, owner, timer['due_at'] ?? 0];
}

function recordRow({ call, records }: Template, n: number, index: number, payload: number | null): RawRow {
  const { id, at } = numbersOf(call, n);
  const [kind = null, header = null, hash = null] = columns(records[index] as Values, 'kind', 'header', 'hash');
  return ['insertRecord', at + index, kind, id, header, hash, payload];
}

const payloadRow = ({ call, payloads }: Template, n: number, index: number): RawRow => [
  'insertPayload',
  numbersOf(call, n).payload + index,
  ...columns(payloads[index] as Values, 'salt', 'bytes'),
];

/**
 * Each commit numbers its own records. A step takes its turn with the first commit and gives it back with the second.
 */
function sessionRow({ call, step }: Template, numbers: readonly [number, number], taken: string | null): RawRow {
  const [session = null, updatedAt = null] = columns(call, 'session', 'updated_at');
  if (step === null) return ['updateSession', ...numbers, updatedAt, session];
  const [manifest = null] = columns(step.session, 'manifest');
  const turn = [taken, taken === null ? null : 'ring/advance'];
  const pinnedAt = step.session['pinned_at'] ?? 0;
  return ['updateWorkflow', ...numbers, updatedAt, 'open', manifest, ...turn, null, null, pinnedAt, session];
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
    async call(): Promise<void> {
      const [intent, outcome] = commitsOf(template, next++);
      await write(intent);
      await write(outcome);
    },
    async close(): Promise<void> {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}
