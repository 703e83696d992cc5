/** CONTRACT section 8: nothing is swallowed. Errors that are ignored on purpose are on record, with the reason. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { mount, type OperatorNotice, tool, type ToolContext } from '../../../src/index.ts';
import { openGateway as openParts } from '../../../src/main.ts';
import { suppressed } from '../../../src/core/values/suppressed.ts';
import { recordSuppressed, suppressedIn, suppressedOf } from '../../../src/shell/upkeep/record-suppressed.ts';
import type { Call } from '../../../src/core/call/call.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { folderOf, openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { openWorkflow, success } from '../../support/open-workflow.ts';
import { withReader } from '../../support/read-journal.ts';
import { aTool } from '../../support/tools.ts';

/** Needs nothing around it: it is shipped to workers as text. */
const ignores = async (_: unknown, ctx: ToolContext) => {
  ctx.suppressed('the cache is only a help', new Error('cache away', { cause: new Error('refused') }));
  ctx.suppressed('');
  return 1;
};

const partOf = (record: { readonly payloads: readonly { part: string; text: string | null }[] }, wanted: string) => {
  const found = record.payloads.find(({ part }) => part === wanted)?.text ?? 'null';
  return (JSON.parse(found) as { text: string } | null)?.text ?? null;
};

async function recordsIn(gateway: Awaited<ReturnType<typeof openGateway>>, callId: string, count: number) {
  return eventually(`${count} records`, async () => {
    const found = (await gateway.records(callId)).filter(({ kind }) => kind === 'suppressed_error');
    return found.length >= count ? found : undefined;
  });
}

async function openWhole(t: TestContext, options: OpenOptions = {}) {
  const notices: OperatorNotice[] = [];
  const file = `${folderOf(t)}/recourse.db`;
  const clock = createManualClock();
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const opened = await openParts({ file, tools: [], ...options, onNotice } as never, { clock });
  t.after(() => opened.gateway.close({ drain_seconds: 0 }));
  const records = (count: number) =>
    eventually('the records', () =>
      withReader(file, async (reader) => {
        const all = await reader.entries(null, 1_000);
        const found = all.filter(({ kind }) => kind === 'suppressed_error');
        return found.length >= count ? found : undefined;
      }),
    );
  return { ...opened, notices, clock, records };
}

describe('an error that a body ignores on purpose', () => {
  const bodies = { 'in the gateway': {}, 'in a worker': { isolate: true } } as const;
  for (const [where, more] of Object.entries(bodies))
    test(`[C8-suppressed-1] [S001-swallow-2] ${where} is recorded with its call and its causes`, async (t) => {
      const act = tool({ name: 'act', description: 'acts', input: {}, ...more, run: ignores });
      const gateway = await openGateway(t, [act]);
      const { call_id: id } = successOf(await gateway.call({ tool: 'act' }));
      const [first, second] = await recordsIn(gateway, id, 2);
      assert.ok(first !== undefined && second !== undefined);
      assert.equal(partOf(first, 'reason'), 'the cache is only a help');
      assert.match(partOf(first, 'cause') ?? '', /cache away[\s\S]*caused by: Error: refused/);
      assert.deepEqual([partOf(second, 'reason'), partOf(second, 'cause')], ['no reason was given', null]);
    });

  test('[C8-suppressed-1] of a step is recorded with it', async (t) => {
    const machine = createMachine({ id: 'w', initial: 'a', states: { a: { on: { go: 'a' } } } });
    const gateway = await openWorkflow(t, [mount(machine, { actions: { go: { run: ignores } } } as never)]);
    const { call_id: id } = success(await gateway.ask('go', {}, { session: await gateway.open() }));
    await eventually('the record', () =>
      withReader(gateway.file, async (reader) =>
        (await reader.recordsOf(id as never)).some(({ kind }) => kind === 'suppressed_error'),
      ),
    );
  });

  test('[C8-suppressed-1] shows nothing that the policy masks, and no secret', async (t) => {
    const policy = aPolicy([anAgent('local', [['permit', '**']], { redact: ['args.pin'] })]);
    const act = aTool('act', ({ pin }, ctx) =>
      ctx.suppressed(`pin ${String(pin)}`, new Error(`token=hunter22 ${pin}`)),
    );
    const gateway = await openGateway(t, [act], { policy });
    const { call_id: id } = successOf(await gateway.call({ tool: 'act', args: { pin: '86420531' } }));
    const found = JSON.stringify(await recordsIn(gateway, id, 1));
    assert.match(found, /pin \[redacted\]/);
    assert.doesNotMatch(found, /86420531|hunter22/);
  });

  test('[C8-suppressed-3] is recorded once for a reason, and a hundred reasons are recorded', async (t) => {
    const act = aTool('act', (_, ctx) => {
      for (let at = 0; at < 1_000; at++) ctx.suppressed(`reason ${at % 200}`);
    });
    const gateway = await openGateway(t, [act]);
    const { call_id: id } = successOf(await gateway.call({ tool: 'act' }));
    await recordsIn(gateway, id, 100);
    await gateway.close();
    assert.equal((await recordsIn(gateway, id, 100)).length, 100);
  });
});

describe('an error that the gateway ignores on purpose', () => {
  test('[C8-suppressed-2] is told to the operator and recorded with the reason', async (t) => {
    const { shell, notices, records } = await openWhole(t);
    shell.ports.notify(suppressed('a sweep', new Error('password=hunter22')));
    const [record] = await records(1);
    assert.ok(record !== undefined);
    assert.deepEqual([record.call, JSON.parse(record.body)], [null, { what: 'a sweep' }]);
    assert.equal(partOf(record, 'reason'), 'Error: password=[redacted]');
    assert.ok(notices.some(({ kind }) => kind === 'suppressed'));
    assert.deepEqual(suppressedOf('default', shell), { calls: 0, gateway: 1 });
  });

  test('[C8-suppressed-2] is told in a line, whatever it is', () => {
    const odd = { toString: () => ({}) };
    for (const thrown of [odd, Object.create(null), Symbol('x'), undefined])
      assert.equal(typeof suppressed('a sweep', thrown).reason, 'string');
  });

  test('[C8-suppressed-3] is counted within a minute, and the next record says how often', async (t) => {
    const { shell, clock, records } = await openWhole(t);
    for (let at = 0; at < 5; at++) recordSuppressed(suppressed('a sweep', 'x'), shell);
    recordSuppressed(suppressed('another', 'x'), shell);
    await records(2);
    clock.forward(shell.limits.coalesceWindowMs);
    recordSuppressed(suppressed('a sweep', 'x'), shell);
    const bodies = (await records(3)).map(({ body }) => JSON.parse(body) as object);
    assert.deepEqual(bodies, [{ what: 'a sweep' }, { what: 'another' }, { what: 'a sweep', repeated: 4 }]);
    assert.equal(suppressedOf('default', shell).gateway, 7);
  });

  test('[C8-suppressed-4] is only told while the store is away, and recorded when it comes again later', async (t) => {
    const { shell, notices, records } = await openWhole(t);
    shell.live.storeTrouble = { fault: 'io', message: 'the disk is gone' };
    shell.ports.notify(suppressed('a sweep', 'x'));
    const call = { id: 'call_1', tenant: 'default', session: null, tool: 'act', attempt: 1 } as unknown as Call;
    suppressedIn(call, shell)({ reason: 'in a body', error: null });
    const told = () => notices.map((notice) => (notice.kind === 'suppressed' ? notice.reason : ''));
    await eventually('both are told', async () => told().includes('x') && told().includes('in a body'));
    shell.live.storeTrouble = null;
    shell.ports.notify(suppressed('a sweep', 'x'));
    assert.equal((await records(1)).length, 1);
  });
});
