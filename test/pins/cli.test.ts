/** Public surface, typed out: what scripts rely on. A change here needs a changelog entry. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { commandNames, commands } from '../../src/doors/cli/arguments/commands.ts';
import { exitCodes } from '../../src/doors/cli/exit-codes.ts';
import { type Command, readCommandLine } from '../../src/doors/cli/arguments/read-command-line.ts';
import { type CliParts, runCommand } from '../../src/doors/cli/run-command.ts';
import { barProject, openBar, runBeside } from '../support/cli-project.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { recourse } from '../support/recourse-process.ts';
import { shapeOf } from '../support/shape-of.ts';
import { aTool } from '../support/tools.ts';

const atGateway = ['config', 'file', 'url', 'key', 'key-file', 'json'];

test('the exit codes', () => {
  const codes = Object.fromEntries(Object.entries(exitCodes).map(([name, { code }]) => [name, code]));
  assert.deepEqual(codes, { done: 0, no: 1, usage: 2, store: 3, unexpected: 4 });
});

test('the commands and their options', () => {
  const known = Object.fromEntries(commandNames.map((name) => [name, commands[name].options]));
  assert.deepEqual(known, {
    primer: ['all', 'json'],
    demo: ['port', 'once', 'fast', 'json'],
    check: ['config', 'json'],
    test: ['config', 'json'],
    render: ['format', 'output', 'session', 'config', 'file'],
    serve: ['config', 'file', 'new-store', 'agent', 'mode'],
    stdio: ['config', 'file', 'new-store', 'agent', 'mode'],
    up: ['config', 'file', 'new-store', 'listen', 'agent', 'mode', 'force'],
    faults: ['port', 'ledger', 'faults', 'rate', 'seed', 'on-repeat', 'window', 'stdio', 'list', 'json'],
    'golden run': ['config', 'json'],
    'golden record': ['output', 'config', 'file'],
    replay: ['config', 'file', 'json'],
    init: ['from', 'dry-run', 'config', 'yes', 'json'],
    pin: ['check', 'config', 'json'],
    explain: ['agent', 'session', 'model', 'offline', 'now', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'playbook show': ['config', 'json'],
    call: ['session', 'idempotency-key', 'wait', 'model', 'config', 'url', 'key', 'key-file', 'json'],
    apply: ['watch', 'force', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    status: ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback add': ['note', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback ls': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback show': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback propose': ['playbook', 'set', 'changed', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback release': ['force', 'note', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback rollback': ['note', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'feedback verify': ['config', 'file', 'json'],
    console: ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'approvals ls': [
      'state',
      'agent',
      'session',
      'limit',
      'before',
      'config',
      'file',
      'url',
      'key',
      'key-file',
      'json',
    ],
    'approvals show': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'approvals approve': ['args', 'reason', 'shown', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'approvals deny': ['reason', 'shown', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'approvals revoke': ['reason', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'approvals watch': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'calls ls': ['state', 'agent', 'tool', 'session', 'limit', 'before', 'config', 'file', 'json'],
    'calls show': ['config', 'file', 'json'],
    'calls in-doubt': ['agent', 'tool', 'session', 'limit', 'before', 'config', 'file', 'json'],
    'calls settle': ['happened', 'result', 'by', 'force', 'config', 'file', 'json'],
    'calls cancel': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'sessions cancel': ['turn', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'tickets ls': ['queue', 'all', 'limit', 'before', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'tickets show': ['config', 'file', 'url', 'key', 'key-file', 'json'],
    'tickets take': ['give-back', ...atGateway],
    'tickets comment': ['text', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'tickets resolve': ['answer', 'args', 'result', 'force', 'note', ...atGateway],
    'tickets watch': ['queue', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    inbox: ['limit', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'tickets close': ['note', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'budgets ls': ['agent', 'session', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'budgets set': ['note', 'session', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'budgets reset': ['note', 'session', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    reverse: ['yes', 'reason', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'sessions rollback': ['yes', 'reason', 'config', 'file', 'url', 'key', 'key-file', 'json'],
    'sessions ls': ['workflow', 'agent', 'state', 'limit', 'config', 'file', 'json'],
    'sessions show': ['limit', 'config', 'file', 'json'],
    'sessions tail': ['lines', 'follow', 'config', 'file', 'json'],
    'sessions diff': ['config', 'file', 'json'],
    'agents ls': ['agent', 'tenant', 'config', 'file', 'json'],
    'agents add': ['role', 'tenant', 'expires', 'config', 'file', 'json'],
    'agents rotate': ['grace', 'tenant', 'config', 'file', 'json'],
    'agents revoke': ['tenant', 'config', 'file', 'json'],
    'audit verify': ['config', 'file', 'json'],
    'audit tail': ['lines', 'follow', 'config', 'file', 'json'],
  });
});

async function aStore(t: TestContext) {
  const gateway = await openGateway(t, [aTool('pay', () => ({ paid: true }))], { agent: 'waiter' });
  const { call_id } = await gateway.call({ tool: 'pay', args: { cents: 450 }, key: 'k', turn: 'lunch' });
  return { file: gateway.file, call: call_id };
}

test('0 is done, 1 is no, 2 is usage, 3 is the store', async (t) => {
  const { file, call } = await aStore(t);
  const text = join(folderOf(t), 'notes.txt');
  writeFileSync(text, 'this is not a database, it is a text that is long enough to look like one'.repeat(20));
  const ends: readonly (readonly [status: number, line: string])[] = [
    [0, '--help'],
    [0, '--version'],
    [0, 'calls show --help'],
    [0, `calls ls --file ${file}`],
    [0, `calls ls --file ${file} --tool none`],
    [0, `calls show ${call} --file ${file}`],
    [0, `audit verify --file ${file}`],
    [0, `audit tail --file ${file}`],
    [1, `calls show call_of_nobody --file ${file}`],
    [2, 'cals'],
    [2, 'calls ls --nonsense'],
    [2, 'calls ls --limit 0'],
    [3, `calls ls --file ${join(folderOf(t), 'absent.db')}`],
    [3, `audit verify --file ${folderOf(t)}`],
    [3, `audit tail --file ${text}`],
  ];
  for (const [status, line] of ends) {
    const end = recourse(line.split(' '));
    assert.equal(end.status, status, `recourse ${line}: ${end.stderr}`);
    assert.doesNotMatch(end.stderr, /^\s+at /m);
  }
});

function failing(env: Record<string, string>, error: unknown) {
  let said = '';
  const parts = {
    findStore: async () => ({ kind: 'found', file: 'recourse.db', told: [] }),
    openStore: () => Promise.reject(error),
    explainFault: () => null,
    newCorrelationId: () => 'err_1',
  } as unknown as CliParts;
  const terminal = { tell: (text: string) => (said += text), env } as never;
  const command = readCommandLine(['calls', 'ls']) as Command;
  return runCommand(command, parts, terminal).then((status) => ({ status, said }));
}

test('4 is a bug of ours: a sentence with an id, and the stack only on demand', async () => {
  const error = new TypeError('cannot read\n the future');
  const advice = 'please report it with this id; RECOURSE_DEBUG=1 shows more.';
  const sentence = `recourse: this is a bug of recourse, err_1: cannot read; ${advice}\n`;
  assert.deepEqual(await failing({}, error), { status: 4, said: sentence });
  const { status, said } = await failing({ RECOURSE_DEBUG: '1' }, error);
  assert.equal(status, 4);
  assert.ok(said.startsWith(sentence) && /^ {4}at /m.test(said));
  assert.equal((await failing({}, 'thrown text')).status, 4);
});

const call = {
  call_id: 'string',
  tool: 'string',
  state: 'string',
  effect_class: 'string',
  attempts: 'number',
  tenant: 'string',
  agent: 'string',
  session: 'string',
  seq: 'number',
  turn: 'string',
  key: 'string',
  fingerprint: 'string',
  created_at: 'string',
  updated_at: 'string',
  deadline_at: 'string',
  due_at: 'null',
  requester_left_at: 'null',
  repeats: 'number',
};

const record = {
  epoch: 'number',
  seq: 'number',
  at: 'string',
  kind: 'string',
  meaning: 'string',
  call_id: 'string',
  session_seq: 'number',
};

test('what --json prints', async (t) => {
  const { file, call: id } = await aStore(t);
  const json = (...words: string[]): unknown[] => {
    const { stdout, stderr } = recourse([...words, '--json', '--file', file]);
    assert.equal(stderr, '');
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };
  assert.deepEqual(json('calls', 'ls').map(shapeOf), [call]);

  const [story] = json('calls', 'show', id) as [Record<string, unknown>];
  const { args, reply, gates, facts, timeline, records, effect, reverses, reversed_by, ...rest } = story;
  assert.deepEqual([reverses, reversed_by], [null, null]);
  assert.deepEqual(timeline, []);
  assert.deepEqual(shapeOf(rest), call);
  assert.equal(effect, 'applied');
  assert.deepEqual(args, { kept: 'text', value: { cents: 450 } });
  assert.deepEqual(shapeOf(gates), [{ gate: 'string', answer: 'string' }]);
  assert.equal((reply as { kept: string }).kept, 'text');
  assert.equal(typeof facts, 'object');
  const [{ body, ...prepared }] = records as [Record<string, unknown>];
  assert.equal(typeof body, 'object');
  assert.deepEqual(shapeOf(prepared), {
    ...record,
    payloads: [{ part: 'string', kept: 'string', value: { cents: 'number' } }],
    hash: 'string',
  });

  const [{ body: settled, ...last }] = json('audit', 'tail', '-n', '1') as [Record<string, unknown>];
  assert.equal(typeof settled, 'object');
  assert.deepEqual(shapeOf(last), { ...record, payloads: [{ part: 'string', kept: 'string' }], hash: 'string' });

  const [report] = json('audit', 'verify');
  const head = { epoch: 'number', seq: 'number', hash: 'string' };
  const counts = { records: 'number', epochs: 'number', payloads: 'number', erased: 'number' };
  assert.deepEqual(shapeOf(report), { holds: 'boolean', ...counts, problems: [], head });
});

test('what the commands for sessions print with --json', async (t) => {
  const bar = barProject(t);
  const { step } = await openBar(t, bar);
  const { session } = await step('order', { inputs: { drink: 'tea' } });
  const lost = await step('lose', { session });
  const json = (...words: string[]) => {
    const { stdout } = recourse([...words, '--json'], { cwd: bar.home });
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => shapeOf(JSON.parse(line)));
  };
  const listed = {
    session: 'string',
    workflow: 'string',
    tenant: 'string',
    agent: 'string',
    status: 'string',
    seq: 'number',
    entries: 'number',
    manifest: 'string',
    reason: 'null',
    turn: 'null',
    timer_at: 'null',
    opened_at: 'string',
    last_used_at: 'string',
  };
  const entry = {
    entry: 'number',
    at: 'string',
    agent: 'string',
    seq: 'number',
    state_before: 'string',
    state_after: 'string',
    kind: 'string',
    action: 'string',
    call_id: 'string',
    outcome: 'string',
    code: 'string',
    inputs: {},
    reason: 'string',
    elapsed_ms: 'number',
    detail: { effect: 'string', sends: 'number' },
  };
  assert.deepEqual(json('sessions', 'ls'), [listed]);
  assert.deepEqual(json('sessions', 'tail', String(session), '-n', '1'), [entry]);
  assert.deepEqual(json('sessions', 'show', String(session), '--limit', '1'), [
    {
      ...listed,
      version: 'string',
      state: {
        context: { drinks: ['string'], paid: 'boolean' },
        done: 'boolean',
        history: {},
        timers: [],
        value: 'string',
      },
      fences: [{ operation: 'string', call_id: 'string', state: 'string' }],
      history: [entry],
    },
  ]);
  const difference = { op: 'string', path: 'string', before: 'null', after: 'string' };
  const [added] = json('sessions', 'diff', String(session), '0');
  assert.deepEqual(added, difference);
  const words = ['calls', 'settle', lost.call_id, '--happened', 'no', '--by', 'Ann', '--force', '--json'];
  const settled = shapeOf(JSON.parse((await runBeside(words, bar.home)).stdout));
  assert.deepEqual(settled, { call_id: 'string', happened: 'string', by: 'string', session: 'string' });
});
