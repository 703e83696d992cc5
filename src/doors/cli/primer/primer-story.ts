/**
 * The story of the primer, as data: the requests, the failures, the expected replies and the lessons. One of each kind
 * of reply.
 */
import type { Mood } from './primer-bar.ts';

/** A placeholder for the session that the story opens. */
export const theSession = '<the session>';

export type Act =
  | {
      readonly kind: 'ask';
      readonly request: unknown;
      readonly mood?: Mood;
      /** Lets the body that waits go on before asking. */
      readonly release?: true;
      /** The client cancels once the body has begun. */
      readonly stop?: true;
    }
  /** Reads the reply of the previous call again, after its tool has answered late. */
  | { readonly kind: 'look_up' }
  | { readonly kind: 'open_session' }
  /** Of the session that was opened: all of it, or one turn. */
  | { readonly kind: 'cancel_session' }
  | { readonly kind: 'cancel_turn'; readonly turn: string }
  | { readonly kind: 'close' };

export interface Step {
  readonly chapter?: string;
  readonly say: string;
  readonly act: Act;
  /** Fields that the reply must have, with these values. */
  readonly expect: Readonly<Record<string, unknown>>;
  readonly learn: string;
}

const ask = (request: unknown, more: Omit<Extract<Act, { kind: 'ask' }>, 'kind' | 'request'> = {}): Act => ({
  kind: 'ask',
  request,
  ...more,
});

const order = 'order-1';

export const story: readonly Step[] = [
  {
    chapter: 'Every call gets one typed reply',
    say: 'An agent takes an order.',
    act: ask({ tool: 'take_order', args: { drink: 'latte' } }),
    expect: { action: 'take_order', seq: 1 },
    learn: 'A success carries its result and valid_next_actions: pick one and go on.',
  },
  {
    say: 'It mistypes a name.',
    act: ask({ tool: 'tako_order', args: { drink: 'latte' } }),
    expect: { error: 'unknown_action', code: 'UnknownAction', did_you_mean: 'take_order', effect: 'none' },
    learn: 'Take did_you_mean, or a name from known_actions.',
  },
  {
    say: 'A field has a value that cannot be.',
    act: ask({ tool: 'add_modifier', args: { order, modifier: 'moon' } }),
    expect: { error: 'validation_failed', code: 'InputInvalid', details: { field: 'modifier', got: 'moon' } },
    learn: 'The reason names the field and what would be right; nothing ran.',
  },
  {
    say: 'Several fields are wrong.',
    act: ask({ tool: 'pay', args: { order: 1, cents: 'much', tip: true } }),
    expect: { error: 'validation_failed', resolution: { type: 'fix_input', fields: ['tip', 'order', 'cents'] } },
    learn: 'All of them are listed, so one more try is enough.',
  },
  {
    say: 'It sends something that is no call at all.',
    act: ask('one latte, please'),
    expect: { error: 'validation_failed', code: 'InputInvalid', requested: null, valid_next_actions: [] },
    learn: 'Whatever comes in, a typed reply goes out.',
  },
  {
    say: 'It sends far too much.',
    act: ask({ tool: 'take_order', args: { drink: 'latte', note: 'extra hot '.repeat(300) } }),
    expect: { error: 'validation_failed', code: 'InputTooLarge' },
    learn: 'The limit is in the reply: send less, or send a reference.',
  },
  {
    chapter: 'Asking twice is not doing twice',
    say: 'It pays, under a key that names what it wants.',
    act: ask({ tool: 'pay', args: { order, cents: 450 }, key: 'pay-order-1' }),
    expect: { action: 'pay', result: { charged_cents: 450 } },
    learn: 'Give every write a key of your own.',
  },
  {
    say: 'The answer got lost on the way, so it asks again.',
    act: ask({ tool: 'pay', args: { order, cents: 450 }, key: 'pay-order-1' }),
    expect: { action: 'pay', replayed: true, result: { charged_cents: 450 } },
    learn: 'The same key gives the stored reply; the card was charged once.',
  },
  {
    say: 'It uses the key for something else.',
    act: ask({ tool: 'pay', args: { order, cents: 900 }, key: 'pay-order-1' }),
    expect: { error: 'validation_failed', code: 'KeyReused', effect: 'none' },
    learn: 'Another intention needs another key.',
  },
  {
    chapter: 'Waiting',
    say: 'Making the coffee takes longer than the agent wants to wait.',
    act: ask({ tool: 'fulfill', args: { order }, key: 'make-order-1', wait_seconds: 0 }, { mood: { does: 'wait' } }),
    expect: { pending: true, requested: 'fulfill' },
    learn: 'Pending is no failure: do something else and ask again.',
  },
  {
    say: 'It asks again too early, without wanting to wait.',
    act: ask({ tool: 'fulfill', args: { order }, key: 'make-order-1' }),
    expect: { error: 'action_in_flight', code: 'ActionInFlight', effect: 'none' },
    learn: 'The call is under way; this request started nothing.',
  },
  {
    say: 'The coffee is ready, and it asks once more.',
    act: ask({ tool: 'fulfill', args: { order }, key: 'make-order-1', wait_seconds: 30 }, { release: true }),
    expect: { action: 'fulfill', replayed: true, result: { made: ['latte'] } },
    learn: 'One coffee was made, however often it asked.',
  },
  {
    chapter: 'When it goes wrong, the effect is never guessed',
    say: 'The card terminal does not answer in time.',
    act: ask(
      { tool: 'pay', args: { order: 'order-2', cents: 300 }, deadline_seconds: 0.1 },
      { mood: { does: 'wait' } },
    ),
    expect: { error: 'action_timeout', code: 'ExecutionTimeout', effect: 'unknown', timeout_seconds: 0.1 },
    learn: 'Effect unknown: do not pay again; the call is in doubt until it is settled.',
  },
  {
    say: 'The terminal comes back late and says that it did charge the card.',
    act: { kind: 'look_up' },
    expect: { action: 'pay', result: { charged_cents: 300 } },
    learn: 'A late answer ends the doubt: the reply of the same call id is now a success.',
  },
  {
    say: 'A read fails.',
    act: ask(
      { tool: 'read_order', args: { order } },
      { mood: { does: 'throw', message: 'the order book is being cleaned' } },
    ),
    expect: { error: 'action_error', code: 'ExecutionFailed', effect: 'none' },
    learn: 'A read changes nothing, so its failure has no effect: ask again if you like.',
  },
  {
    say: 'A write fails in the same way.',
    act: ask(
      { tool: 'cancel', args: { order } },
      { mood: { does: 'throw', message: 'the order book is being cleaned' } },
    ),
    expect: { error: 'action_error', code: 'ExecutionFailed', effect: 'unknown' },
    learn: 'Nobody knows how far it got: find out before you repeat it.',
  },
  {
    say: 'A tool knows that it did nothing, and says so.',
    act: ask(
      { tool: 'pay', args: { order: 'order-3', cents: 300 } },
      {
        mood: { does: 'state', kind: '404_not_found', message: 'no such account, nothing was charged', effect: 'none' },
      },
    ),
    expect: { error: 'action_error', code: 'NotFound', effect: 'none', error_type: 'ToolFailure' },
    learn: 'Effect none is a proof: it is safe to try something else.',
  },
  {
    say: 'A tool answers something that it never promised.',
    act: ask({ tool: 'take_order', args: { drink: 'mocha' } }, { mood: { does: 'return', value: { order: 7 } } }),
    expect: { error: 'action_error', code: 'OutputMalformed', effect: 'unknown' },
    learn: 'It may well have done something: look before you order again.',
  },
  {
    say: 'Half of the work is done.',
    act: ask(
      { tool: 'fulfill', args: { order: 'order-3' } },
      {
        mood: {
          does: 'part',
          value: { made: ['mocha'] },
          failed: [{ item: 'croissant', kind: '404_not_found', message: 'the last one is gone' }],
        },
      },
    ),
    expect: {
      action: 'fulfill',
      result: { made: ['mocha'] },
      errors: [{ class: 'ToolTerminal', code: 'NotFound', item: 'croissant', message: 'the last one is gone' }],
    },
    learn: 'A partial result names what failed: repeat that, not the rest.',
  },
  {
    chapter: 'Stopping',
    say: 'The client cancels a call that is running.',
    act: ask({ tool: 'fulfill', args: { order: 'order-4' } }, { mood: { does: 'wait' }, stop: true }),
    expect: { error: 'cancelled', code: 'ToolCancelled', effect: 'unknown' },
    learn: 'The wait ends at once; what the tool had done by then is not known.',
  },
  {
    say: 'The same client comes back and asks for the same, without a key.',
    act: ask({ tool: 'fulfill', args: { order: 'order-4' } }),
    expect: { error: 'fenced', code: 'Fenced', effect: 'none' },
    learn: 'Nobody knows of the first coffee, so no second is made: blocking_call_id names the call.',
  },
  {
    chapter: 'Sessions',
    say: 'An agent names a session that is not its own.',
    act: ask({ tool: 'read_order', args: { order }, session: 'ses_of_somebody' }),
    expect: { error: 'session_error', code: 'UnknownSession', effect: 'none' },
    learn: 'Open a session, or leave `session` out.',
  },
  {
    say: 'It plans on an old view of its session.',
    act: ask({ tool: 'pay', args: { order, cents: 450 }, expected_seq: 1 }),
    expect: { error: 'session_error', code: 'StaleSequence', effect: 'none' },
    learn: 'Something happened in between: look again, then decide.',
  },
  {
    say: 'It opens a session of its own.',
    act: { kind: 'open_session' },
    expect: { session: 'ses_0002' },
    learn: 'Calls that belong together can be stopped together.',
  },
  {
    say: 'A person stops one line of work in it, the turn called lunch.',
    act: { kind: 'cancel_turn', turn: 'lunch' },
    expect: { result: 'cancelled' },
    learn: 'A turn groups calls, and the rest of the session goes on.',
  },
  {
    say: 'The agent has not heard of it.',
    act: ask({ tool: 'take_order', args: { drink: 'latte' }, session: theSession, turn: 'lunch' }),
    expect: { error: 'cancelled', code: 'TurnCancelled', effect: 'none' },
    learn: 'Stop this line of work; other turns are not touched.',
  },
  {
    say: 'A person stops everything in that session.',
    act: { kind: 'cancel_session' },
    expect: { result: 'cancelled' },
    learn: 'What runs in it is stopped, and nothing new begins.',
  },
  {
    say: 'The agent goes on as if nothing had happened.',
    act: ask({ tool: 'take_order', args: { drink: 'latte' }, session: theSession }),
    expect: { error: 'cancelled', code: 'SessionCancelled', effect: 'none' },
    learn: 'Replan: this line of work was ended on purpose.',
  },
  {
    chapter: 'Closing',
    say: 'The gateway closes, after what was running has ended.',
    act: { kind: 'close' },
    expect: { result: 'closed' },
    learn: 'Whatever was promised is on disk.',
  },
  {
    say: 'Somebody asks nevertheless.',
    act: ask({ tool: 'take_order', args: { drink: 'espresso' } }),
    expect: {
      error: 'denied',
      code: 'DAEMON_NOT_READY',
      effect: 'none',
      message: 'denied: daemon is closed, ask again once it is open',
      valid_next_actions: [],
    },
    learn: 'It says that it is closed; nothing ran, so ask again once it is open.',
  },
];
