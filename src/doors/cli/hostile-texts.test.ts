/** Names and values that others chose, on every screen: they make no line of their own, and hide nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aView } from '../../../test/support/notice-home.ts';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import type { Explanation } from '../../core/gates/explain.ts';
import type { ExplainedRecord } from '../../shell/look/inspect.ts';
import { drawWatch } from './watch/draw-watch.ts';
import { writePairs, writeTable } from './print/table.ts';
import { watchBegins, watch } from './watch/watch-state.ts';
import { pairsOf, sentenceOf } from './print/write-approval.ts';
import { writeEntry } from './print/write-entry.ts';
import { writeExplanation } from './print/write-explanation.ts';
import { writeRecordLine, writeRecordStory } from './print/write-record.ts';
import { writeReply } from './print/write-reply.ts';
import { writeStatus } from './print/write-status.ts';

const plain = (_: string, text: string) => text;
const nowMs = Date.parse('2026-05-18T01:00:00Z');

const approval = (text: string) => ({
  ...aView(),
  agent: text,
  tool: text,
  reason: text,
  session: text,
  args: { [text]: text, [`${text}2`]: { [text]: [text] } },
  edited_args: { [text]: text },
  approvers: [text],
  approved_by: [{ by: text, at: '2026-05-18T00:00:00Z' }],
  decided: { by: text, at: '2026-05-18T00:00:00Z', reason: text },
});

const explanation = (text: string): Explanation => ({
  tenant: 'default',
  agent: text,
  tool: text,
  decision: 'refuse',
  rungs: [{ gate: 'policy', answer: 'refused', saw: { tool: text, [text]: [text] }, why: text, change: text }],
  rules: [{ ref: text, result: 'broken', problem: text }] as never,
  reply: { ...errorSamples.denied, message: text },
});

const record = (text: string): ExplainedRecord => ({
  ...({
    epoch: 1,
    seq: 1,
    timeMs: nowMs,
    session: null,
    payloads: [{ part: text, text: '' }],
  } as never as ExplainedRecord),
  kind: 'refused',
  call: text as never,
  meaning: 'a meaning',
  body: JSON.stringify({ tool: text, [text]: text, list: [text] }),
});

const screens: Readonly<Record<string, (text: string) => string>> = {
  'an approval': (text) => writePairs(pairsOf(approval(text), nowMs), plain),
  'an approval as it changes': (text) =>
    (['opened', 'approved', 'denied', 'revoked', 'used'] as const)
      .map((change) => sentenceOf({ change, approval: approval(text) }))
      .map((sentence) => writeTable([{ title: 'T', text: () => sentence }], [0], plain))
      .join(''),
  'the live screen': (text) => {
    const [listed] = watch(watchBegins(nowMs), { kind: 'listed', pending: [approval(text)] });
    const [asking] = watch(listed, { kind: 'key', key: { name: 'text', text: 'a' } });
    const [refusing] = watch(listed, { kind: 'key', key: { name: 'text', text: 'd' } });
    const [typed] = watch(refusing, { kind: 'key', key: { name: 'text', text } });
    const [heard] = watch(listed, { kind: 'answered', sentence: text });
    const [lost] = watch(listed, { kind: 'lost', trouble: text });
    const size = { columns: 10_000, rows: 60 };
    return [listed, asking, typed, heard, lost]
      .flatMap((state) => drawWatch(state, 'http://x', size, plain))
      .join('\n');
  },
  'an explanation': (text) => writeExplanation(explanation(text), plain),
  'a record': (text) => `${writeRecordLine(record(text), plain)}${writeRecordStory(record(text), plain)}`,
  'an entry of a history': (text) =>
    writeEntry(
      {
        entry: 1,
        at: '',
        seq: 1,
        elapsed_ms: null,
        inputs: text,
        reason: text,
        state_before: null,
        state_after: null,
        kind: text,
        agent: text,
        action: text,
        call_id: text,
        outcome: text,
        code: text,
        detail: { [text]: text },
      },
      plain,
    ),
  'a reply': (text) =>
    [
      {
        ...successSample,
        action: text,
        result: { [text]: text },
        errors: [{ item: text, class: 'ToolTerminal', code: 'NotFound', message: text }],
        notices: [{ code: 'APPROVAL_EDITED', human_message: text, resolution: { type: 'replan', reason: text } }],
      },
      { ...errorSamples.denied, requested: text, message: text, valid_next_actions: [text], rule_ref: text },
      { ...pendingSample, requested: text },
    ]
      .map((reply) => writeReply(reply as never, plain))
      .join(''),
  'a status': (text) =>
    [
      { url: text, ready: true, store: text, version: text, upstreams: [{ name: text, state: 'up', problem: text }] },
      { url: text, ready: false, reason: text },
    ]
      .map((report) => writeStatus(report, plain))
      .join(''),
};

const hidden = [
  '\u202e',
  '\u200b',
  '\u{e0041}',
  '\u2066',
  '\ufeff',
  '\u00ad',
  '\u3164',
  '\u2800',
  '\ufe0f',
  '\u001b',
  '\u2028',
];

for (const [what, write] of Object.entries(screens))
  test(`${what} has as many lines as with plain names, and everything on them can be seen`, () => {
    const lines = write('plain').split('\n').length;
    for (const text of ['a\namount: 5', 'a\r\namount: 5', 'a\u2028state  granted', 'a\u0085b'])
      assert.equal(write(text).split(/[\n\r\u2028\u2029\u0085]/).length, lines, JSON.stringify(write(text)));
    for (const char of hidden) assert.ok(!write(`a${char}b`).includes(char), JSON.stringify(char));
  });

test('the name of an argument cannot pass for an argument', () => {
  const args = { 'a\namount: 5': 1, 'amount: 5 ': 2, amount: 5_000 };
  const shown = writePairs(pairsOf({ ...aView(), args }, nowMs), plain);
  assert.deepEqual(shown.match(/^.*amount.*$/gm), [
    '  arguments  "a\\namount: 5": 1',
    '             "amount: 5 ": 2',
    '             amount: 5000',
  ]);
});

test('a result that is a text keeps its lines, and hides nothing on them', () => {
  for (const char of hidden) {
    const shown = writeReply({ ...successSample, result: `one\na${char}b` }, plain);
    assert.ok(!shown.includes(char), JSON.stringify(char));
    assert.match(shown, /^ {2}one\n {2}a\\/m);
  }
});

test('names with words of ours in them stand in quotes', () => {
  const named = approval('bot asks for small/echo');
  for (const change of ['opened', 'used', 'expired', 'voided'] as const)
    assert.equal(sentenceOf({ change, approval: named }).match(/"bot asks for small\/echo"/g)?.length, 2, change);
  const reply = writeReply({ ...errorSamples.denied, valid_next_actions: ['read, pay', 'cancel'] }, plain);
  assert.match(reply, /^ {2}instead +"read, pay", cancel$/m);
});

test('a text in place of a number is told from it', () => {
  const args = { amount: '5', card: 'x, amount: 5', list: ['5'] };
  const shown = writePairs(pairsOf({ ...aView(), args }, nowMs), plain);
  for (const line of ['amount: "5"', 'card: "x, amount: 5"', 'list: ["5"]']) assert.ok(shown.includes(line), shown);
});
