/**
 * An extension that throws or hangs when it is started, used or stopped: typed and named, and nothing else fails. In
 * real gateways, on real stores.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { defineExtension, type Extension, type Host, type UpstreamResult } from '../../../src/extension/index.ts';
import { createGateway, GatewayError, type GatewayOptions, type OperatorNotice } from '../../../src/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withReader } from '../../support/read-journal.ts';

const forever = (): Promise<never> => new Promise(() => undefined);

const ok = { kind: 'returned', output: 'hi', errors: [] } as const;
const serving = (name: string, more: Partial<Extension> = {}, invoke: () => Promise<UpstreamResult> = async () => ok) =>
  defineExtension({
    name,
    contract: 1,
    upstreams: {
      [name]: {
        tools: [{ name: 'hello', description: 'says hello', input: { type: 'object' }, effect: 'pure' }],
        create: () => ({ invoke }),
      },
    },
    ...more,
  });

async function open(t: TestContext, options: Partial<GatewayOptions<readonly []>>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-life-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const notices: OperatorNotice[] = [];
  const file = path.join(folder, 'recourse.db');
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const gateway = await createGateway({ tools: [], ...options, file, onNotice });
  t.after(() => gateway.close());
  const call = async (name: string, args = {}) =>
    (await gateway.handle({ tool: name, args })) as unknown as Readonly<Record<string, unknown>>;
  return { gateway, notices, call, file };
}

const statesIn = (gateway: { extensions(): readonly { name: string; state: string; problem: unknown }[] }) =>
  gateway.extensions().map(({ name, state }) => `${name} ${state}`);

const badStarts: readonly (readonly [string, Partial<Extension>, string, RegExp])[] = [
  [
    'throws',
    {
      start: () => {
        throw new Error('no database');
      },
    },
    'LifecycleFailure',
    /'soap' threw in its start: no database/,
  ],
  [
    'rejects',
    {
      start: async () => {
        throw new Error('no database');
      },
    },
    'LifecycleFailure',
    /'soap' threw in its start: no database/,
  ],
  ['throws undefined', { start: () => Promise.reject(undefined) }, 'LifecycleFailure', /'soap' threw in its start/],
  ['hangs', { start: forever, start_timeout_seconds: 0.05 }, 'LifecycleFailure', /'soap' did not start within 0.05 s/],
  [
    'fails by class and code',
    { start: (host: Host) => host.fail('Session', 'StoreUnavailable', 'its store is away') },
    'StoreUnavailable',
    /'soap' threw in its start: its store is away/,
  ],
];

describe('an extension that at its start', () => {
  for (const [what, more, code, says] of badStarts) {
    test(`${what}, and is used: the start is refused, and what was started is stopped`, async (t) => {
      const stops: string[] = [];
      const base = defineExtension({ name: 'base', contract: 1, stop: () => void stops.push('base') });
      const extensions = [serving('soap', more), base];
      await assert.rejects(
        open(t, { extensions, upstreams: { legacy: { kind: 'soap' } } }),
        (error) => error instanceof GatewayError && error.code === 'LifecycleFailure' && says.test(error.message),
      );
      assert.deepEqual(stops, ['base']);
    });

    test(`${what}, and is not used: the others go on, and its state says why`, async (t) => {
      const extensions = [serving('soap', more), serving('corba'), serving('leaf', { needs: ['soap'] })];
      const { gateway, call, notices } = await open(t, { extensions, upstreams: { legacy: { kind: 'corba' } } });
      assert.equal((await call('legacy/hello'))['result'], 'hi');
      assert.deepEqual(statesIn(gateway), ['soap failed', 'corba started', 'leaf failed']);
      const [soap, , leaf] = gateway.extensions();
      assert.equal(soap?.problem?.code, code);
      assert.match(soap?.problem?.message ?? '', says);
      assert.match(leaf?.problem?.message ?? '', /'leaf' was not started: 'soap', which it needs, is not running/);
      const told = notices.filter(({ kind }) => kind === 'extension_failed');
      assert.deepEqual(
        told.map((notice) => notice.kind === 'extension_failed' && [notice.extension, notice.step, notice.code]),
        [
          ['soap', 'start', code],
          ['leaf', 'start', 'LifecycleFailure'],
        ],
      );
    });
  }
});

test('extensions start in order, get what those that they need give, and stop in reverse', async (t) => {
  const told: string[] = [];
  const each = (name: string, needs: readonly string[] = []) =>
    defineExtension({
      name,
      contract: 1,
      needs,
      start(host) {
        told.push(`start ${name}${needs.map((needed) => ` with ${String(host.of(needed))}`).join('')}`);
        host.signal.addEventListener('abort', () => void told.push(`signal ${name}`));
        return `the export of ${name}`;
      },
      stop: () => void told.push(`stop ${name}`),
    });
  const { gateway } = await open(t, { extensions: [each('c', ['a', 'b']), each('a'), each('b', ['a'])], tools: [] });
  await gateway.close();
  assert.deepEqual(told, [
    'start a',
    'start b with the export of a',
    'start c with the export of a with the export of b',
    'signal c',
    'stop c',
    'signal b',
    'stop b',
    'signal a',
    'stop a',
  ]);
});

test('what is not in needs is not given', async (t) => {
  const curious = defineExtension({ name: 'curious', contract: 1, start: (host) => host.of('other') });
  const { gateway } = await open(t, { extensions: [curious, defineExtension({ name: 'other', contract: 1 })] });
  assert.equal(gateway.extensions()[0]?.problem?.code, 'DependencyMissing');
});

describe('an extension that at its stop', () => {
  const badStops: readonly (readonly [string, Partial<Extension>, RegExp])[] = [
    [
      'throws',
      {
        stop: () => {
          throw new Error('stuck');
        },
      },
      /'b' threw in its stop: stuck/,
    ],
    [
      'rejects',
      {
        stop: async () => {
          throw new Error('stuck');
        },
      },
      /'b' threw in its stop: stuck/,
    ],
    ['hangs', { stop: forever, stop_timeout_seconds: 0.05 }, /'b' did not stop within 0.05 s/],
  ];
  for (const [what, more, says] of badStops)
    test(`${what} is told, and the rest stops`, async (t) => {
      const stops: string[] = [];
      const plain = (name: string) => defineExtension({ name, contract: 1, stop: () => void stops.push(name) });
      const { gateway, notices } = await open(t, {
        extensions: [plain('a'), defineExtension({ name: 'b', contract: 1, ...more }), plain('c')],
      });
      await gateway.close();
      assert.deepEqual(stops, ['c', 'a']);
      const [told] = notices.filter((notice) => notice.kind === 'extension_failed');
      assert.deepEqual([told?.extension, told?.step, told?.code], ['b', 'stop', 'LifecycleFailure']);
      assert.match(told?.message ?? '', says);
      assert.deepEqual(statesIn(gateway), ['a stopped', 'b stopped', 'c stopped']);
    });
});

describe('an upstream that in a call', () => {
  const badCalls: readonly (readonly [string, () => Promise<UpstreamResult>, string])[] = [
    [
      'rejects',
      async () => {
        throw new TypeError('oops');
      },
      'ExecutionFailed',
    ],
    [
      'throws',
      () => {
        throw new TypeError('oops');
      },
      'ExecutionFailed',
    ],
    ['gives nothing', async () => undefined as never, 'ExecutionFailed'],
    ['gives a kind that is none', async () => ({ kind: 'odd' }) as never, 'ExecutionFailed'],
    ['gives what is no JSON', async () => ({ ...ok, output: 1n }), 'OutputMalformed'],
    [
      'gives a failure that is none',
      async () => ({ kind: 'failed', failure: { kind: 7 } }) as never,
      'ExecutionFailed',
    ],
    ['hangs', forever, 'ExecutionTimeout'],
  ];
  for (const [what, invoke, code] of badCalls)
    test(`${what}: that call fails, and another does not`, async (t) => {
      const { call } = await open(t, {
        extensions: [serving('soap', {}, invoke), serving('corba')],
        upstreams: { bad: { kind: 'soap', timeout_seconds: what === 'hangs' ? 0.05 : 60 }, good: { kind: 'corba' } },
        playbook: { transient_timeout: 'escalate_to_human', server_error_5xx: 'escalate_to_human' },
      });
      const reply = await call('bad/hello');
      assert.deepEqual([reply['error'] === undefined, reply['code']], [false, code], JSON.stringify(reply));
      assert.equal((await call('good/hello'))['result'], 'hi');
    });

  test('[S001-codes-2] fails by class and code: the reply has both', async (t) => {
    let host: Host | null = null;
    const { call } = await open(t, {
      extensions: [
        serving(
          'soap',
          { start: (given) => void (host = given) },
          () => host?.fail('ToolTerminal', 'NotFound', 'no such ticket') ?? forever(),
        ),
      ],
      upstreams: { legacy: { kind: 'soap' } },
    });
    const reply = await call('legacy/hello');
    assert.deepEqual([reply['class'], reply['code'], reply['effect']], ['ToolTerminal', 'NotFound', 'none']);
    assert.match(String(reply['message']), /no such ticket/);
  });

  test('throws when it is made: that call fails, and the gateway is open', async (t) => {
    const broken = defineExtension({
      name: 'broken',
      contract: 1,
      upstreams: {
        broken: {
          tools: [{ name: 'x', description: '', input: {}, effect: 'pure' }],
          create: () => {
            throw new Error('no');
          },
        },
      },
    });
    const { call } = await open(t, { extensions: [broken], upstreams: { legacy: { kind: 'broken' } } });
    assert.equal((await call('legacy/x'))['code'], 'ExecutionFailed');
  });
});

test('[S001-swallow-2] what an extension suppresses is on record, also from before the store was open', async (t) => {
  const loud = defineExtension({
    name: 'loud',
    contract: 1,
    start: (host) => host.suppressed('a cache that is optional', new Error('no cache')),
  });
  const { gateway, file, notices } = await open(t, { extensions: [loud] });
  await gateway.close();
  assert.ok(
    notices.some((notice) => notice.kind === 'suppressed' && notice.reason.includes('a cache that is optional')),
  );
  const records = await withReader(file, (reader) => reader.journal(null, 1_000));
  const [record] = records.filter(({ kind }) => kind === 'suppressed_error');
  assert.match(Buffer.from(record?.header ?? []).toString(), /an error in the extension 'loud'/);
});

test('a program is refused extensions and settings that do not fit', async (t) => {
  const refused: readonly (readonly [Partial<GatewayOptions<readonly []>>, string | null, RegExp])[] = [
    [{ extensions: [{ name: 'a', contract: 2 } as never] }, 'ContractVersionMismatch', /version 2/],
    [{ extensions: [{ contract: 1 } as never] }, 'ShapeInvalid', /no usable name/],
    [{ extensions: [serving('a', { needs: ['b'] })] }, 'DependencyMissing', /needs 'b'/],
    [{ extensions: [serving('a', { needs: ['a'] })] }, 'DependencyCycle', /a -> a/],
    [{ upstreams: { legacy: { kind: 'soap' } } }, null, /no extension adds servers of the kind 'soap'/],
    [{ extensions: [serving('a')], upstreams: { x: { kind: 'a', settings: { b: 1 } } } }, null, /has no settings/],
  ];
  for (const [options, code, says] of refused)
    await assert.rejects(
      open(t, options),
      (error) => error instanceof GatewayError && error.code === code && says.test(error.message),
      String(says),
    );
});
