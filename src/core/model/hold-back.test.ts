import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createHoldBack, maxHeldEvents, type TextEvent } from './hold-back.ts';
import { seekForms } from './seek-forms.ts';

const mask = '[redacted]';
const longestFirst = (forms: readonly string[]) => forms.toSorted((a, b) => b.length - a.length);
const holding = (...forms: string[]) => createHoldBack(seekForms(longestFirst(forms), mask), mask);

/** A part of a text, as an event that says where its text stands. */
const part = (said: string, text = 'a'): TextEvent => ({
  event: null,
  data: JSON.stringify({ of: text, delta: [{ said }] }),
  texts: [{ text, path: ['delta', 0, 'said'], part: said }],
});
const ping: TextEvent = { event: 'ping', data: '{}' };

interface Written {
  readonly of: string;
  readonly delta: readonly [{ readonly said: string }];
}
const written = ({ data }: TextEvent) => JSON.parse(data) as Partial<Written>;
const saidIn = (events: readonly TextEvent[], text = 'a'): string =>
  events
    .map(written)
    .filter(({ of }) => of === text)
    .map(({ delta }) => delta?.[0].said)
    .join('');

const through = (events: readonly TextEvent[], ...forms: string[]) => {
  const held = holding(...forms);
  return [...events.flatMap((event) => held.take(event)), ...held.end()];
};

const secret = 'sk-12345678';

test('what cannot be the beginning of a secret goes at once, as the very same event', () => {
  const held = holding(secret);
  const event = part('hello');
  assert.equal(held.take(event)[0], event);
  assert.equal(held.take(ping)[0], ping);
  assert.deepEqual(held.end(), []);
});

test('a beginning is held with all that follows, and let go when it does not become a secret', () => {
  const held = holding(secret);
  const [first, second] = [part('ask'), part('ing')];
  assert.deepEqual(held.take(first), []);
  assert.deepEqual(held.take(ping), []);
  assert.deepEqual(held.take(second), [first, ping, second]);
});

test('a beginning at the end of the stream is let go', () => {
  const held = holding(secret);
  const event = part('sk-1234567');
  assert.deepEqual(held.take(event), []);
  assert.deepEqual(held.end(), [event]);
});

for (const [name, parts, shown] of [
  ['in one event', [`key ${secret} end`], `key ${mask} end`],
  ['one character an event', [...`key ${secret} end`], `key ${mask} end`],
  ['twice', [`${secret}${secret}`], `${mask}${mask}`],
  ['after a beginning that is none', [...`sk-12sk-${secret}`], `sk-12sk-${mask}`],
] as const)
  test(`a secret is replaced: ${name}`, () => {
    const events = through(
      parts.map((each) => part(each)),
      secret,
    );
    assert.equal(saidIn(events), shown);
    assert.equal(events.length, parts.length);
    assert.deepEqual(
      events.map(({ texts }) => texts?.[0]?.part),
      events.map((event) => written(event).delta?.[0].said),
    );
  });

test('of two secrets of which one begins the other, the longer one counts, or the one that is there', () => {
  const forms = [secret, `${secret}9abc`];
  const said = (text: string) =>
    saidIn(
      through(
        [...text].map((each) => part(each)),
        ...forms,
      ),
    );
  assert.equal(said(`${secret}9abc!`), `${mask}!`);
  assert.equal(said(`${secret}9ab!`), `${mask}9ab!`);
  assert.equal(said(`${secret}9a`), `${mask}9a`);
});

test('a beginning to which something is added is held however many events it came in', () => {
  const long = 'x'.repeat(4 * maxHeldEvents);
  assert.equal(
    saidIn(
      through(
        [...long.slice(1), '.'].map((each) => part(each)),
        long,
      ),
    ),
    `${long.slice(1)}.`,
  );
});

test('texts do not mix: each holds its own beginning', () => {
  const letters = [...secret].flatMap((each) => [part(each, 'a'), part(each, 'b')]);
  const events = through([...letters, part('.', 'a')], secret);
  assert.equal(saidIn(events, 'a'), `${mask}.`);
  assert.equal(saidIn(events, 'b'), mask);
});

test('a short beginning to which nothing is added does not stop the others, and is not forgotten', () => {
  const held = holding(secret);
  assert.deepEqual(held.take(part('sk-')), []);
  const others = Array.from({ length: maxHeldEvents + 1 }, () => held.take(ping)).flat();
  assert.equal(saidIn(others), 'sk-');
  assert.equal(others.length, maxHeldEvents + 2);
  assert.equal(saidIn([...held.take(part('12345678')), ...held.end()]), mask);
});

test('a long beginning to which nothing is added is masked, and so is the rest of it', () => {
  const held = holding(secret);
  const events = [part('sk-12'), ...Array.from({ length: maxHeldEvents + 1 }, () => ping), part('345678.')];
  assert.equal(saidIn([...events.flatMap((event) => held.take(event)), ...held.end()]), `${mask}.`);
});

test('an event into which its text cannot be written is left out', () => {
  const lost: TextEvent = { event: null, data: 'no JSON', texts: [{ text: 'a', path: ['x'], part: secret }] };
  assert.deepEqual(through([lost, ping], secret), [ping]);
});

/** Few characters, so that beginnings, overlaps and secrets are frequent. */
const letters = fc.constantFrom('a', 'b');
const form = fc.array(letters, { minLength: 8, maxLength: 12 }).map((chars) => chars.join(''));
const forms = fc.array(form, { minLength: 1, maxLength: 3 });
const filler = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 }).map((chars) => chars.join(''));

/** What a text shows once all secrets in it are replaced, from the left, the longest first. */
function replaced(text: string, all: readonly string[]): string {
  let shown = '';
  for (let from = 0; from < text.length;) {
    const found = longestFirst(all).find((each) => text.startsWith(each, from));
    shown += found === undefined ? text.charAt(from) : mask;
    from += found?.length ?? 1;
  }
  return shown;
}

const streams = (maxEvents: number) =>
  forms.chain((all) => {
    const text = fc
      .array(fc.oneof(filler, fc.constantFrom(...all)), { minLength: 1, maxLength: 5 })
      .map((pieces) => pieces.join(''));
    const cuts = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 80 });
    const order = fc.array(fc.constantFrom('a', 'b', 'ping'), { minLength: 1, maxLength: maxEvents });
    return fc.record({ all: fc.constant(all), a: text, b: text, cuts, order });
  });

type Stream = typeof streams extends (max: number) => fc.Arbitrary<infer Value> ? Value : never;

/** The two texts, cut and interleaved; the last event of each has the rest. */
function eventsOf({ a, b, cuts, order }: Stream): readonly TextEvent[] {
  const left = { a, b };
  const events = order.map((text, nth) => {
    if (text === 'ping') return ping;
    const name = text as 'a' | 'b';
    const chars = cuts[nth % cuts.length] ?? 0;
    const said = left[name].slice(0, chars);
    left[name] = left[name].slice(chars);
    return part(said, name);
  });
  return [...events, part(left.a, 'a'), part(left.b, 'b')];
}

test('secrets cut anywhere into interleaved texts are replaced, and nothing else changes', () => {
  fc.assert(
    fc.property(streams(maxHeldEvents - 2), (stream) => {
      const given = eventsOf(stream);
      const events = through(given, ...stream.all);
      for (const name of ['a', 'b'] as const) assert.equal(saidIn(events, name), replaced(stream[name], stream.all));
      assert.equal(events.length, given.length);
    }),
  );
});

test('however long a beginning waits, no secret is shown, and nothing is held at the end', () => {
  fc.assert(
    fc.property(streams(4 * maxHeldEvents), (stream) => {
      const given = eventsOf(stream);
      const events = through(given, ...stream.all);
      for (const name of ['a', 'b'] as const) {
        const said = saidIn(events, name);
        for (const each of stream.all) assert.ok(!said.includes(each), `${each} in ${said}`);
      }
      assert.deepEqual(
        events.map((event) => written(event).of),
        given.map((event) => written(event).of),
      );
    }),
  );
});
