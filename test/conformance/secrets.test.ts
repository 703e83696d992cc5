/**
 * CONTRACT sections 8 and 9 for secrets: a live key in what a tool gives is masked, and `redact` holds for failures as
 * for successes.
 */
import assert from 'node:assert/strict';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { z } from 'zod';
import { prepareDefault } from '../../src/compose/state/find-store.ts';
import { defaultStore, stateRoot } from '../../src/compose/state/state-folder.ts';
import { mount, partial, tool, ToolFailure, type Reply } from '../../src/index.ts';
import { aPolicy, anAgent } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { aKey, bytesOf } from '../support/live-key.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { openWorkflow, success } from '../support/open-workflow.ts';
import { aTool } from '../support/tools.ts';

describe('a live key of this gateway in what a tool gives', () => {
  test('[C9-keys-1] is masked in successes, items, failures and causes, on record too, and an operator is told once for each call', async (t) => {
    const { key, id, shown, secret, used, close } = await aKey(t);
    const tools = [
      aTool('read', () => ({ lines: ['a', `${key}\n`], [key]: true })),
      aTool('halves', () => ({
        content: [
          { type: 'text', text: key.slice(0, 30) },
          { type: 'text', text: key.slice(30) },
        ],
      })),
      aTool('some', () => partial({ done: 1 }, [{ item: key, kind: 'threw', message: `no ${key}` }])),
      aTool('throws', () => {
        throw new ToolFailure({ kind: 'threw', message: `bad line: '${key}'`, cause: new Error(key) });
      }),
    ];
    const gateway = await openGateway(t, tools);
    const read = successOf(await gateway.call({ tool: 'read' }));
    assert.deepEqual(read.result, { lines: ['a', `${shown}\n`], [shown]: true });
    assert.deepEqual(await gateway.reply(read.call_id), read);
    const halves = successOf(await gateway.call({ tool: 'halves' }));
    assert.deepEqual(halves.result, {
      content: [
        { type: 'text', text: shown },
        { type: 'text', text: '' },
      ],
    });
    const some = successOf(await gateway.call({ tool: 'some' }));
    assert.equal(some.errors?.[0]?.item, shown);
    const thrown = errorOf(await gateway.call({ tool: 'throws' }), 'action_error');
    for (const reply of [read, halves, some, thrown]) assert.ok(!JSON.stringify(reply).includes(secret));
    const told = gateway.notices.filter(({ kind }) => kind === 'key_masked');
    assert.deepEqual(
      told.map((notice) => (notice.kind === 'key_masked' ? [notice.tool, notice.agent, notice.keyIds] : null)),
      ['read', 'halves', 'some', 'throws'].map((name) => [name, 'local', [id]]),
    );
    await eventually('the record', async () =>
      (await gateway.records(thrown.call_id)).some((record) => record.kind === 'key_masked'),
    );
    assert.equal(await used(), null, 'finding a key in a result is no use of it');
    await gateway.close();
    assert.ok(!bytesOf(gateway.file).includes(secret));
    await close();
  });

  test('[C9-keys-1] is masked in what a workflow keeps, and in what another tool gets of it', async (t) => {
    const { key, shown, secret, close } = await aKey(t);
    const machine = createMachine({
      id: 'safe',
      initial: 'shut',
      context: { seen: null },
      states: { shut: { on: { look: 'seen' } }, seen: {} },
    });
    const look = {
      run: async (_inputs: unknown, ctx: { tools: { call(name: string, args: object): Promise<unknown> } }) => ({
        own: key,
        nested: await ctx.tools.call('leak', {}),
      }),
      update: ({ result }: { result: { own: string } }) => ({ seen: result.own }),
    };
    const workflow = mount(machine, { actions: { look } } as never);
    const gateway = await openWorkflow(t, [workflow], {
      tools: [aTool('leak', () => key)],
      file: `${folderOf(t)}/recourse.db`,
    });
    const reply = success(await gateway.ask('look', {}));
    assert.ok(JSON.stringify(reply).includes(shown));
    assert.ok(!JSON.stringify(reply).includes(secret));
    await gateway.close();
    assert.ok(!bytesOf(gateway.file).includes(secret));
    await close();
  });

  test('[C9-keys-1] is masked in an answer that comes too late', async (t) => {
    const { key, secret, close } = await aKey(t);
    const back = Promise.withResolvers<string>();
    const slow = tool({
      name: 'slow',
      description: 'slow',
      input: {},
      timeout_seconds: 0.05,
      run: async () => back.promise,
    });
    const gateway = await openGateway(t, [slow]);
    const { call_id: id } = errorOf(await gateway.call({ tool: 'slow' }), 'action_timeout');
    back.resolve(`late: ${key}`);
    await eventually('the late answer', async () =>
      (await gateway.records(id)).some(({ kind }) => kind === 'orphaned'),
    );
    assert.ok(!JSON.stringify(await gateway.reply(id)).includes(secret));
    await gateway.close();
    assert.ok(!bytesOf(gateway.file).includes(secret));
    await close();
  });

  test('[C9-keys-1] one that is revoked, unknown or only looks like one passes, and nobody is told', async (t) => {
    const { key, close } = await aKey(t, true);
    const other = `rk_0000000000000000_${'a'.repeat(43)}`;
    const gateway = await openGateway(t, [aTool('read', () => [key, other, 'rk_'])]);
    assert.deepEqual(successOf(await gateway.call({ tool: 'read' })).result, [key, other, 'rk_']);
    assert.deepEqual(gateway.notices, []);
    await close();
  });

  test('[C9-keys-1] where nobody can say whether it is one it is masked', async (t) => {
    writeFileSync(`${folderOf(t)}/recourse.db.keys`, 'no database', { mode: 0o600 });
    const gateway = await openGateway(t, [aTool('read', () => `rk_0000000000000000_${'a'.repeat(43)}`)]);
    assert.equal(successOf(await gateway.call({ tool: 'read' })).result, 'rk_0000000000000000_…masked');
  });
});

describe('where nobody names a place', () => {
  test('[C9-place-1] a project has a folder of its own, for this user alone, by its real path', async (t) => {
    const project = path.join(folderOf(t), 'project');
    const link = path.join(folderOf(t), 'link');
    const env = { RECOURSE_STATE_DIR: path.join(folderOf(t), 'state') };
    mkdirSync(project);
    symlinkSync(project, link);
    const [one, other] = [await prepareDefault(project, env), await prepareDefault(link, env)];
    assert.ok(one.kind === 'found' && other.kind === 'found');
    assert.equal(one.file, other.file);
    assert.ok(path.relative(project, one.file).startsWith('..'));
    assert.equal(statSync(path.dirname(one.file)).mode & 0o777, 0o700);
    assert.notEqual(one.file, defaultStore(folderOf(t), env));
    // Of two projects with the same name each has its own.
    assert.notEqual(one.file, defaultStore(path.join(folderOf(t), 'elsewhere', 'project'), env));
    const shared = { HOME: '/of-ann', XDG_STATE_HOME: 'relative' };
    assert.equal(stateRoot(shared), '/of-ann/.local/state/recourse');
    assert.equal(stateRoot({ ...shared, XDG_STATE_HOME: '/state' }), '/state/recourse');
    assert.ok(path.isAbsolute(stateRoot({ HOME: '' })) && path.isAbsolute(stateRoot({ HOME: 'here' })));
    assert.equal(stateRoot({ LOCALAPPDATA: '/local' }, 'win32'), '/local/recourse');
  });
});

describe('what redact names', () => {
  const redact = ['args.card.number', 'args.pin', 'result.users.*.email', 'result.**.ssn'];
  const policy = () => aPolicy([anAgent('local', [['permit', '**']], { redact })]);
  const args = { card: { number: '4111-1111-1111-1111' }, pin: 86_420_531, note: 'hello' };
  const secrets = ['4111-1111-1111-1111', '86420531', 'ann@example.com', '078-05-1120'];
  const clean = (value: unknown, what: string) => {
    for (const each of secrets)
      assert.ok(!JSON.stringify(value).includes(each), `${what} shows ${each}: ${JSON.stringify(value)}`);
  };

  test('[C8-redact-3] is in no message, cause or item of a failure, nor on record', async (t) => {
    const refuse = () => {
      throw new ToolFailure({
        kind: '400_invalid',
        name: 'card 4111-1111-1111-1111',
        message: 'card "4111-1111-1111-1111" and pin=86420531 were refused; code 7',
        cause: new Error('4111-1111-1111-1111'),
      });
    };
    const some = () =>
      partial({ users: [{ email: 'ann@example.com' }] }, [
        { item: 0, kind: 'threw', message: 'ann@example.com has no card 4111-1111-1111-1111' },
      ]);
    const odd = aTool('odd', () => ({ ssn: '078-05-1120', n: 'x' }), {
      output: { type: 'object', properties: { ssn: { type: 'number' }, n: { type: 'number' } } },
    });
    const gateway = await openGateway(t, [aTool('refuse', refuse), aTool('some', some), odd], { policy: policy() });
    const refused = errorOf(await gateway.call({ tool: 'refuse', args }), 'action_error');
    assert.equal(refused.error_message, 'card "[redacted]" and pin=[redacted] were refused; code 7');
    const replies: Reply[] = [
      refused,
      await gateway.call({ tool: 'some', args }),
      await gateway.call({ tool: 'odd', args }),
    ];
    for (const reply of replies) clean(reply, 'the reply');
    for (const { call_id: id } of replies as { call_id: string }[]) clean(await gateway.records(id), 'the journal');
    await gateway.close();
    for (const each of secrets) assert.ok(!bytesOf(gateway.file).includes(each), `the store holds ${each}`);
  });

  test('[C8-redact-3] is in nothing that an object says of itself as JSON', async (t) => {
    class Model {
      readonly #email = 'ann@example.com';
      toJSON() {
        return { users: [{ email: this.#email }], ssn: '078-05-1120' };
      }
    }
    const output = { type: 'object', properties: { ssn: { type: 'number' } } };
    const tools = [aTool('model', () => new Model()), aTool('odd', () => new Model(), { output })];
    const gateway = await openGateway(t, tools, { policy: policy() });
    const model = successOf(await gateway.call({ tool: 'model' }));
    assert.deepEqual(model.result, { users: [{ email: '[redacted]' }], ssn: '[redacted]' });
    const odd = errorOf(await gateway.call({ tool: 'odd' }), 'action_error');
    for (const reply of [model, odd]) {
      clean(reply, 'the reply');
      clean(await gateway.records(reply.call_id), 'the journal');
    }
    await gateway.close();
    for (const each of secrets) assert.ok(!bytesOf(gateway.file).includes(each), `the store holds ${each}`);
  });

  test('[C8-redact-3] is in no refusal of something that should have had fields, nor on record', async (t) => {
    const input = {
      type: 'object',
      properties: {
        card: {
          anyOf: [{ type: 'object' }, { type: 'array', items: { properties: { number: { type: 'integer' } } } }],
        },
      },
    };
    const strict = { type: 'object', properties: { card: { type: 'object' } } };
    const tools = [aTool('pay', () => 1, { input: strict }), aTool('either', () => 1, { input })];
    const gateway = await openGateway(t, tools, { policy: policy() });
    const sent = [[args.card], [args.card.number], args.card.number, 86_420_531].map((card) => ['pay', card] as const);
    for (const [name, card] of [...sent, ['either', [args.card]] as const]) {
      const reply = errorOf(await gateway.call({ tool: name, args: { card } }), 'validation_failed');
      clean(reply, 'the reply');
      clean(await gateway.records(reply.call_id), 'the journal');
    }
  });

  test('[C8-redact-3] is in no refusal of a validator that quotes what was sent', async (t) => {
    const input = z.object({ pin: z.number() }).superRefine(({ pin }, ctx) => {
      ctx.addIssue({ code: 'custom', path: ['note'], message: `${pin} does not go with this note` });
    });
    const pay = tool({ name: 'pay', description: 'pays', input, run: async () => 1 });
    const gateway = await openGateway(t, [pay], { policy: policy() });
    const refused = errorOf(await gateway.call({ tool: 'pay', args }), 'validation_failed');
    clean(refused, 'the reply');
    assert.match(refused.reason, /\[redacted\] does not go with this note/);
    clean(await gateway.records(refused.call_id), 'the journal');
  });
});
