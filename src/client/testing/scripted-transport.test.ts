import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { replySchema } from '../../core/http/reply-schema.ts';
import { codes, errors } from '../../core/taxonomy.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { errorSamples, successSample } from '../../../test/support/reply-samples.ts';
import { createClient } from '../create-client.ts';
import * as words from './answers.ts';
import { permit, type ScriptedAnswer } from './answers.ts';
import { createScriptedTransport, UnscriptedCallError } from './scripted-transport.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
const matches = ajv.compile(replySchema());
const call = { tool: 'refund', args: { order: 'ord_1' }, key: 'k1' };

const resetsAt = '2026-05-18T00:00:00Z';
/** Every word that makes a reply, plain and with all that it takes. */
const making = {
  permit: [
    words.permit(),
    words.permit(
      { a: 1 },
      { replayed: true, state: {}, errors: [{ class: 'ToolTerminal', code: 'NotFound', item: 3 }] },
    ),
  ],
  deny: [
    words.deny(),
    words.deny({ ruleRef: 'a.yaml:1', humanMessage: 'no' }),
    words.deny({ code: 'EGRESS_DENIED' }),
    words.deny({ code: 'MODEL_DENIED' }),
  ],
  defer: [words.defer(), words.defer({ approvalId: 'apr-1', humanMessage: 'wait', ruleRef: 'a.yaml:2' })],
  retryAfter: (['RATE_EXCEEDED', 'DAEMON_NOT_READY', 'CREDENTIAL_UNAVAILABLE'] as const).map((code) =>
    words.retryAfter(2, { code }),
  ),
  budgetExceeded: [words.budgetExceeded({ resetsAt }), words.budgetExceeded({ resetsAt, budgetId: 'weekly' })],
  completionBlocked: [words.completionBlocked(['apr-1', 'apr-2'])],
  fail: [
    words.fail(),
    words.fail({ effect: 'applied', verdict: 'schema_mismatch' }),
    words.fail({ retryAfterSeconds: 3 }),
  ],
  unknownEffect: [words.unknownEffect()],
  timeout: [words.timeout(), words.timeout(3, 'none')],
  invalidInput: [words.invalidInput('amount', 'must be positive', -1)],
  pending: [words.pending(words.permit())],
  reply: [words.reply(successSample), words.reply(errorSamples.fenced)],
} satisfies Partial<Record<keyof typeof words, readonly ScriptedAnswer[]>>;

const onTheWay = ['lost', 'notSent', 'notAReply'];

describe('a scripted reply is one that a gateway could give', () => {
  test('every word is looked at here', () =>
    assert.deepEqual([...Object.keys(making), ...onTheWay].sort(), Object.keys(words).sort()));

  for (const [word, answers] of Object.entries(making))
    test(word, async () => {
      for (const answer of answers) {
        const given = await createScriptedTransport({ refund: answer }, { validNextActions: ['a'] }).send(call);
        assert.ok(given.kind === 'answered');
        assert.ok(matches(given.body), `${ajv.errorsText(matches.errors)}: ${JSON.stringify(given.body)}`);
        const { error, code, resolution } = given.body as {
          error?: 'denied';
          code?: 'POLICY_DENY';
          resolution?: { type: never };
        };
        if (error === undefined || code === undefined) continue;
        const carried: readonly string[] = errors[error].codes;
        assert.ok(carried.includes(code));
        if (error === 'denied') assert.ok(codes[code].resolutions.includes(resolution?.type as never), code);
      }
    });

  test('every denial that a gateway knows can be scripted', async () => {
    const denials = [
      making.deny,
      making.defer,
      making.retryAfter,
      making.budgetExceeded,
      making.completionBlocked,
    ].flat();
    const made = denials.map(async (answer) => {
      const given = await createScriptedTransport({ refund: answer }).send(call);
      return given.kind === 'answered' ? (given.body as { code: string }).code : '';
    });
    assert.deepEqual([...new Set(await Promise.all(made))].sort(), [...errors.denied.codes].sort());
  });
});

describe('a script', () => {
  test('answers each attempt in turn, then by default', async () => {
    const transport = createScriptedTransport({ refund: [permit(1), permit(2)], default: permit('other') });
    const client = createClient({ transport });
    const results = [];
    for (const tool of ['refund', 'look', 'refund', 'refund']) results.push(await client.call(tool));
    assert.deepEqual(results, [1, 'other', 2, 'other']);
  });

  test('answers for ever with what is no list', async () => {
    const client = createClient({ transport: createScriptedTransport({ refund: permit(1) }) });
    for (let times = 0; times < 3; times++) assert.equal(await client.call('refund'), 1);
  });

  test('says what is missing', async () => {
    const client = createClient({ transport: createScriptedTransport({ refund: [permit(1)] }) });
    await assert.rejects(client.call('look', { a: 1 }), (error) => {
      assert.ok(error instanceof UnscriptedCallError);
      return /'look' is not scripted: add an answer for {"a":1}, or a 'default'; scripted are refund/.test(
        error.message,
      );
    });
    await client.call('refund');
    await assert.rejects(client.call('refund'), /'refund' is called for the 2\. time, and its list is shorter/);
    await assert.rejects(client.call('toString'), /'toString' is not scripted/);
  });

  test('keeps a record of the calls as they would have travelled', async () => {
    const transport = createScriptedTransport({ default: permit() });
    await createClient({ transport }).call('refund', { order: 'ord_1' }, { key: 'k1', session: 'ses_1' });
    assert.deepEqual(transport.calls, [{ tool: 'refund', args: { order: 'ord_1' }, key: 'k1', session: 'ses_1' }]);
  });
});

describe('its clock', () => {
  test('jumps to the end of a wait by itself', async () => {
    const transport = createScriptedTransport({ refund: [words.retryAfter(20), permit('done')] });
    assert.equal(await createClient({ transport }).call('refund'), 'done');
    assert.deepEqual([transport.clock.seconds, transport.clock.waits], [20, [20]]);
  });

  test('is moved by the test, if so wished', async () => {
    const transport = createScriptedTransport(
      { refund: [words.retryAfter(20), permit('done')] },
      { manualClock: true },
    );
    let result: unknown;
    const call = createClient({ transport })
      .call('refund')
      .then((value) => (result = value));
    await eventually('a wait', async () => transport.clock.waiting > 0);
    transport.clock.advance(19);
    await new Promise(setImmediate);
    assert.deepEqual([result, transport.clock.waiting], [undefined, 1]);
    transport.clock.advance(1);
    assert.equal(await call, 'done');
    assert.deepEqual([transport.clock.seconds, transport.clock.waiting], [20, 0]);
  });
});
