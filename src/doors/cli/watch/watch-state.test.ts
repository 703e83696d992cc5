import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { drawWatch } from './draw-watch.ts';
import { type Key, keyOf } from './screen.ts';
import { watch, watchBegins, type WatchEffect, type WatchEvent, type WatchState } from './watch-state.ts';

const nowMs = Date.parse('2026-05-18T10:00:00Z');
const plain = (_: string, text: string) => text;

function aView(id: string, more: Partial<ApprovalView> = {}): ApprovalView {
  return {
    approval_id: id,
    state: 'pending',
    agent: 'support-bot',
    tool: 'payments/refund',
    session: null,
    call_id: `call_${id}`,
    args: { amount: 900, id: 'ch_1' },
    rule_ref: 'recourse.yaml:14',
    reason: 'money leaves',
    approvers: null,
    needed: 1,
    approved_by: [],
    decided: null,
    on_approve: 'wait',
    opened_at: '2026-05-18T09:58:00Z',
    expires_at: '2026-05-19T09:58:00Z',
    shown: `hash-of-${id}`,
    ...more,
  };
}

const key = (name: Key['name'] | string): WatchEvent => {
  const known = ['up', 'down', 'enter', 'escape', 'backspace', 'interrupt', 'other'];
  return {
    kind: 'key',
    key: known.includes(name) ? { name: name as Key['name'], text: '' } : { name: 'text', text: name },
  };
};
const listed = (...ids: string[]): WatchEvent => ({ kind: 'listed', pending: ids.map((id) => aView(id)) });
const changed = (change: ApprovalEvent['change'], approval: ApprovalView): WatchEvent => ({
  kind: 'changed',
  event: { position: '1.1', change, at: '2026-05-18T10:00:00Z', approval },
});

/** All effects on the way, and where it ends. */
function after(...events: readonly WatchEvent[]): { state: WatchState; effects: readonly WatchEffect[] } {
  let state = watchBegins(nowMs);
  const effects: WatchEffect[] = [];
  for (const event of events) {
    const [next, more] = watch(state, event);
    state = next;
    effects.push(...more);
  }
  return { state, effects };
}

describe('keys', () => {
  const approveA = { kind: 'approve', id: 'a', shown: 'hash-of-a' };
  const cases: readonly (readonly [
    sentence: string,
    keys: readonly string[],
    effects: readonly object[],
    chosen: string,
  ])[] = [
    ['j and k move, and stop at the ends', ['j', 'j', 'j', 'k'], [], 'b'],
    ['arrows move too', ['down', 'down', 'up', 'up', 'up'], [], 'a'],
    ['a and y approve what was chosen', ['a', 'y'], [approveA], 'a'],
    ['a and n approve nothing', ['a', 'n'], [], 'a'],
    ['a and enter approve nothing: only a y does', ['a', 'enter'], [], 'a'],
    ['an a in the details asks as well', ['enter', 'a', 'y'], [approveA], 'a'],
    ['scrolling a question does not answer it', ['a', 'j', 'k', 'y'], [approveA], 'a'],
    ['d wants a reason', ['d', 'enter', ' ', 'enter'], [], 'a'],
    [
      'd, a reason and enter deny',
      ['d', 'n', 'o', 'x', 'backspace', 'enter'],
      [{ kind: 'deny', id: 'a', shown: 'hash-of-a', reason: 'no' }],
      'a',
    ],
    ['escape leaves a reason unsent', ['d', 'n', 'o', 'escape', 'enter', 'escape'], [], 'a'],
    ['letters of a reason are no commands', ['d', 'q', 'a', 'y', 'escape'], [], 'a'],
    ['q quits', ['q'], [{ kind: 'quit' }], 'a'],
    ['q in the details only goes back', ['enter', 'q'], [], 'a'],
    ['an interrupt quits, whatever is asked', ['d', 'n', 'interrupt'], [{ kind: 'quit' }], 'a'],
  ];
  for (const [sentence, keys, effects, chosen] of cases)
    test(sentence, () => {
      const end = after(listed('a', 'b', 'c'), ...keys.map(key));
      assert.deepEqual(end.effects, effects);
      assert.equal(end.state.chosen, chosen);
    });

  test('are named as readline names them', () => {
    const named: readonly (readonly [text: string | undefined, pressed: object, name: string, typed: string])[] = [
      ['y', { name: 'y' }, 'text', 'y'],
      ['A', { name: 'a' }, 'text', 'A'],
      [undefined, { name: 'up' }, 'up', ''],
      ['\r', { name: 'return' }, 'enter', ''],
      ['\u0003', { name: 'c', ctrl: true }, 'interrupt', ''],
      ['\u001b', { name: 'escape' }, 'escape', ''],
      ['y', { name: 'y', meta: true }, 'other', ''],
      ['\u0007', {}, 'other', ''],
      ['ü', {}, 'text', 'ü'],
    ];
    for (const [text, pressed, name, typed] of named) assert.deepEqual(keyOf(text, pressed), { name, text: typed });
  });
});

describe('news', () => {
  test('does not move the choice', () => {
    const older = aView('0', { opened_at: '2026-05-18T09:00:00Z' });
    const { state } = after(listed('a', 'b'), key('j'), changed('opened', older));
    assert.deepEqual([state.pending.map((each) => each.approval_id), state.chosen], [['0', 'a', 'b'], 'b']);
  });

  test('a question about what somebody else decided is gone, and a y after it approves nothing', () => {
    const gone = aView('a', { state: 'denied', decided: { by: 'ann', at: '', reason: 'no' } });
    const { state, effects } = after(listed('a', 'b'), key('a'), changed('denied', gone), key('y'));
    assert.deepEqual(effects, []);
    assert.deepEqual([state.mode.kind, state.chosen], ['list', 'b']);
    assert.match(
      state.heard.join('\n'),
      /ann denied payments\/refund of support-bot: no\n.*a is no longer pending: nothing was sent/,
    );
  });

  test('what changed while the question stood is not what is approved', () => {
    const edited = aView('a', { shown: 'another', edited_args: { amount: 1 } });
    const { effects } = after(listed('a'), key('a'), changed('approved', edited), key('y'));
    assert.deepEqual(effects, [{ kind: 'approve', id: 'a', shown: 'hash-of-a' }], 'the gateway refuses that hash');
  });

  test('what is past its time is not shown any more', () => {
    const { state } = after(listed('a'), { kind: 'ticked', nowMs: Date.parse('2026-05-20T00:00:00Z') });
    assert.deepEqual([state.pending, state.chosen], [[], null]);
  });

  test('a lost connection is said, and over when there is a list again', () => {
    const lost = after(listed('a'), { kind: 'lost', trouble: 'nobody listens' }).state;
    assert.match(
      drawWatch(lost, 'http://x', { columns: 80, rows: 20 }, plain)[0] ?? '',
      /lost: nobody listens; trying again/,
    );
    const [back] = watch(lost, listed('b'));
    assert.deepEqual([back.link, back.trouble, back.chosen], ['live', null, 'b']);
  });
});

describe('the screen', () => {
  const size = { columns: 80, rows: 24 };

  test('shows what waits, and marks the choice', () => {
    const lines = drawWatch(after(listed('a', 'b'), key('j')).state, 'http://x', size, plain);
    assert.match(lines[0] ?? '', /^recourse approvals {2}http:\/\/x {2}live +2 pending$/);
    assert.match(
      lines.join('\n'),
      /\n {2}AGENT +TOOL +WAITS +LEFT +APPROVED +RULE\n {2}support-bot .*\n> support-bot +payments\/refund +2 min +23 h 58 min +0 of 1 +recourse\.yaml:14\n/,
    );
  });

  test('shows the arguments one on each line before it asks, and text of others cannot move the cursor', () => {
    const hostile = aView('a', { args: { '\u001b[2J': 'x', note: 'a\nb' } });
    const lines = drawWatch(after({ kind: 'listed', pending: [hostile] }, key('a')).state, 'http://x', size, plain);
    assert.match(lines.join('\n'), /arguments {2}"\\u001b\[2J": "x"\n +note: "a\\nb"\n/);
    assert.match(lines.at(-1) ?? '', /approve payments\/refund of support-bot\? y to approve/);
  });

  test('what does not fit says how much is left, and can be scrolled to its end', () => {
    const long = aView('a', { args: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, n])) });
    const begin = after({ kind: 'listed', pending: [long] }, key('enter')).state;
    assert.match(drawWatch(begin, 'http://x', size, plain).join('\n'), /… \d+ more below \(j\)/);
    let state = begin;
    for (let n = 0; n < 60; n++) [state] = watch(state, key('j'));
    assert.match(
      drawWatch(state, 'http://x', size, plain).join('\n'),
      /then +once approved, the agent's next equal call runs it\n.*the end/,
    );
  });

  test('is never larger than the terminal, whatever happens', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd');
    const change = fc.constantFrom('opened', 'approved', 'denied', 'revoked', 'used', 'expired', 'voided');
    const state = fc.constantFrom('pending', 'granted', 'denied', 'used', 'void');
    const event: fc.Arbitrary<WatchEvent> = fc.oneof(
      fc.constantFrom('a', 'd', 'y', 'q', 'j', 'k', 'up', 'down', 'enter', 'escape', 'backspace', 'other').map(key),
      fc.array(ids, { maxLength: 4 }).map((some) => listed(...new Set(some))),
      fc
        .tuple(change, ids, state, fc.string())
        .map(([what, id, now, text]) => changed(what, aView(id, { state: now, tool: text, args: { text } }))),
      fc.string().map((trouble) => ({ kind: 'lost', trouble }) as const),
    );
    const sizes = fc.record({ columns: fc.integer({ min: 1, max: 120 }), rows: fc.integer({ min: 1, max: 40 }) });
    const property = fc.property(fc.array(event, { maxLength: 30 }), sizes, (events, at) => {
      const end = after(...events);
      const lines = drawWatch(end.state, 'http://x', at, plain);
      assert.ok(lines.length <= at.rows, `${lines.length} lines`);
      for (const line of lines) assert.ok(line.length <= at.columns && !/\p{Cc}/u.test(line), JSON.stringify(line));
      const chosen = end.state.pending.some((each) => each.approval_id === end.state.chosen);
      assert.ok(chosen || (end.state.pending.length === 0 && end.state.chosen === null));
    });
    fc.assert(property, { numRuns: 300 });
  });
});
