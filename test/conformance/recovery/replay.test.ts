/**
 * What a real gateway records about the failures of a call can be decided again from the records alone, and comes out
 * the same; one changed fact is found and named.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { nodeClock } from '../../../src/adapters/system-node/clock.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { type Playbooks, replay, type ReplayRecord } from '../../../src/core/recovery/replay.ts';
import { type EffectClass, type ErrorKind, kinds } from '../../../src/core/taxonomy.ts';
import { ToolFailure } from '../../../src/index.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { StoreReader } from '../../../src/ports/store.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { withReader } from '../../support/read-journal.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';
import { aTool, effectClassNames } from '../../support/tools.ts';

/** Pauses take no time; an hour is as long as it is. */
const hastyClock: Clock = {
  ...nodeClock,
  schedule: (delayMs, callback) => nodeClock.schedule(delayMs < 3_000_000 ? delayMs / 100_000 : delayMs, callback),
};

interface Fails {
  readonly kind: ErrorKind;
  readonly subject: string | undefined;
  readonly retry_after_seconds: number | undefined;
  readonly code: 'ResourceBusy' | undefined;
  readonly effect: 'none' | undefined;
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });

const fails: fc.Arbitrary<Fails> = fc
  .constantFrom(...(Object.keys(kinds) as ErrorKind[]), 'timeout' as const, '5xx' as const, '429' as const)
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      subject:
        kinds[kind].subjects.length === 0 ? fc.constant(undefined) : maybe(fc.constantFrom(...kinds[kind].subjects)),
      retry_after_seconds: maybe(fc.integer({ min: 0, max: 2_000 })),
      code: maybe(fc.constant('ResourceBusy' as const)),
      effect: maybe(fc.constant('none' as const)),
    }),
  );

/** Undefined stays away, as an author would leave it out. */
const failure = (fields: Fails) =>
  new ToolFailure({
    message: `it failed: ${fields.kind}`,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  } as never);

/** One gateway for all sequences; every call is told by its number how its sends end. */
async function open(t: TestContext) {
  const scripts = new Map<number, Fails[]>();
  const body = ({ n }: Record<string, unknown>) => {
    const next = scripts.get(Number(n))?.shift();
    if (next !== undefined) throw failure(next);
    return { done: true };
  };
  const tools = effectClassNames.map((effect) => aTool(effect, body, { effect, timeout_seconds: 3_600 }));
  const gateway = await openGateway(t, tools, { clock: hastyClock });
  return async (effect: EffectClass, script: readonly Fails[]) => {
    const n = scripts.size;
    scripts.set(n, [...script]);
    const { call_id: id } = await gateway.call({ tool: effect, args: { n }, key: `k${n}` });
    return withReader(gateway.file, async (reader) => {
      const call = await reader.call(id as CallId);
      assert.ok(call !== null);
      const records = await reader.recordsOf(call.id);
      return { call, records, playbooks: await playbooksOf(records, reader), left: scripts.get(n)?.length ?? 0 };
    });
  };
}

/** The playbooks that decided about a call, from the store. */
async function playbooksOf(records: readonly ReplayRecord[], reader: StoreReader): Promise<Playbooks> {
  const decided = records.filter(({ kind }) => kind === 'compensation_selected');
  const hashes = decided.map(({ body }) => (JSON.parse(body) as { playbook: string }).playbook);
  const kept = await Promise.all(hashes.map(async (hash) => [hash, (await reader.blob(hash)) ?? ''] as const));
  return new Map(kept);
}

test('[C1-replay-1] [S003-replay-1] whatever fails, the replay of what was recorded is equal', async (t) => {
  const send = await open(t);
  let failures = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...effectClassNames),
      fc.array(fails, { maxLength: 6 }),
      async (effect, script) => {
        const { call, records, playbooks, left } = await send(effect, script);
        const made = replay(call, records, playbooks);
        const [first] = script;
        // A tool's own words that prove an effect of none are told, and not dispatched.
        const isTold = first?.kind === 'threw' && (effect === 'pure' || first.effect === 'none');
        assert.deepEqual(made, { kind: 'equal', failures: isTold ? 0 : script.length - left, erased: [] });
        failures += script.length - left;
      },
    ),
    { numRuns: 60 },
  );
  assert.ok(failures > 20, `only ${failures} failures`);
});

const timedOut: Fails = {
  kind: 'timeout',
  subject: undefined,
  retry_after_seconds: undefined,
  code: undefined,
  effect: undefined,
};

function changed(
  records: readonly ReplayRecord[],
  kind: string,
  change: (body: never) => object,
): readonly ReplayRecord[] {
  let isDone = false;
  return records.map((record) => {
    if (record.kind !== kind || isDone) return record;
    isDone = true;
    return { ...record, body: JSON.stringify(change(JSON.parse(record.body) as never)) };
  });
}

const flips: readonly (readonly [kind: string, field: string, value: unknown, record: string, named: string])[] = [
  ['attempt_finished', 'kind', '403_forbidden', 'failure_classified', 'verdict'],
  ['attempt_finished', 'effect', 'none', 'failure_classified', 'effect'],
  ['failure_classified', 'verdict', 'server_error_5xx', 'failure_classified', 'verdict'],
  ['failure_classified', 'code', 'ResourceBusy', 'failure_classified', 'code'],
  [
    'compensation_selected',
    'compensation',
    { kind: 'escalate_to_human', queue: 'q' },
    'compensation_selected',
    'compensation',
  ],
  ['attempt_scheduled', 'pause_ms', 1, 'attempt_scheduled', 'pause_ms'],
  ['attempt_scheduled', 'at_ms', 1, 'attempt_scheduled', 'at_ms'],
  ['dispatch_settled', 'attempts', 9, 'dispatch_settled', 'attempts'],
];

test('[C1-replay-4] after a restart with another playbook each decision is made again by the one that made it', async (t) => {
  const clock = createShiftedClock();
  const always = () => {
    throw failure(timedOut);
  };
  const openWith = (base: number) => {
    const retry = { max_attempts: 2, backoff: 'fixed', base_ms: base, jitter: 0 } as const;
    return openGateway(t, [aTool('act', always, { effect: 'pure', retry })], { clock });
  };
  const before = await openWith(160_000);
  const { call_id: id } = await before.call({ tool: 'act', wait_seconds: 0.01, deadline_seconds: 3_600 });
  await eventually('the pause', async () => (await before.stored(id)).state === 'RETRY_WAIT');
  await before.close();
  clock.pass(200_000);
  const after = await openWith(1);
  await eventually('its end', async () => (await after.stored(id)).state === 'FAILED');
  await withReader(after.file, async (reader) => {
    const call = await reader.call(id as CallId);
    assert.ok(call !== null);
    const records = await reader.recordsOf(call.id);
    const playbooks = await playbooksOf(records, reader);
    assert.equal(playbooks.size, 2);
    assert.deepEqual(replay(call, records, playbooks), { kind: 'equal', failures: 3, erased: [] });
  });
});

test('[C1-replay-2] one changed fact is found and named', async (t) => {
  const send = await open(t);
  const { call, records, playbooks } = await send('keyed', [timedOut]);
  assert.equal(replay(call, records, playbooks).kind, 'equal');
  for (const [kind, field, value, record, named] of flips) {
    const made = replay(
      call,
      changed(records, kind, (body: object) => ({ ...body, [field]: value })),
      playbooks,
    );
    assert.ok(made.kind === 'different', `${kind}.${field} was not noticed`);
    assert.deepEqual([made.first.record, made.first.field], [record, named], `${kind}.${field}`);
  }
});

test('[C1-replay-2] a record that is missing is found', async (t) => {
  const send = await open(t);
  const { call, records, playbooks } = await send('keyed', [timedOut, { ...timedOut, kind: '403_forbidden' }]);
  for (const kind of [
    'failure_classified',
    'verdict_changed',
    'attempt_scheduled',
    'dispatch_settled',
    'ticket_opened',
  ]) {
    const at = records.findIndex((record) => record.kind === kind);
    const made = replay(call, records.toSpliced(at, 1), playbooks);
    assert.equal(made.kind, 'different', kind);
  }
});

test('[C1-replay-3] an erased message is reported, and what is missing stops the replay', async (t) => {
  const send = await open(t);
  const { call, records, playbooks } = await send('keyed', [timedOut]);
  const erased = records.map((record) => ({
    ...record,
    payloads: record.payloads.map(({ part }) => ({ part, text: null })),
  }));
  assert.deepEqual(replay(call, erased, playbooks), {
    kind: 'equal',
    failures: 1,
    erased: ['the message of attempt 1'],
  });
  assert.deepEqual(replay(call, records, new Map()), {
    kind: 'impossible',
    missing: 'the playbook that decided about attempt 1',
  });
  const older = changed(records, 'compensation_selected', ({ facts: _, ...body }: { facts: unknown }) => body);
  assert.deepEqual(replay(call, older, playbooks), {
    kind: 'impossible',
    missing: 'the facts of the decision about attempt 1',
  });
});

test('[C1-replay-3] any records and any playbook give an answer', () => {
  const record = fc.record({
    kind: fc.constantFrom(
      'attempt_finished',
      'compensation_selected',
      'failure_classified',
      'dispatch_settled',
      'settled',
    ),
    body: fc.oneof(fc.json(), fc.constant('{"attempt":1,"kind":"timeout","effect":"none"}'), fc.string()),
    payloads: fc.constant([]),
  });
  const call = {
    id: 'call_1' as CallId,
    tool: 'pay',
    effectClass: 'plain',
    state: 'FAILED',
    createdAtMs: 0,
    deadlineAtMs: 9,
  } as const;
  const playbooks = fc.string().map((text) => new Map([['h', text]]));
  fc.assert(fc.property(fc.array(record), playbooks, (records, texts) => void replay(call, records, texts)));
});
