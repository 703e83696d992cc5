/**
 * Holds events of a stream back while a text in them could be the beginning of something that must not be shown.
 * Replaces it when it is complete, and lets go when it is not. Keeps the order of events, and holds no more than the
 * beginnings and `maxHeldEvents` other events.
 */
import type { Json } from '../values/json.ts';
import type { ProviderEvent, StreamedText } from './protocol.ts';

export interface TextEvent extends ProviderEvent {
  readonly texts?: readonly StreamedText[];
}

/** Finds what must not be shown. */
export interface Seeker {
  /** What begins here; null for nothing. `open`: what follows the text may make it that, or longer. */
  at(text: string, from: number): Sought;
}

export interface Sought {
  readonly found: { readonly end: number; readonly shown: string } | null;
  readonly open: boolean;
}

export interface HeldBack {
  /** What may be sent now. */
  take(event: TextEvent): readonly TextEvent[];
  /** The seeker knows more than before. */
  again(): readonly TextEvent[];
  /** Nothing follows: all the rest. */
  end(): readonly TextEvent[];
}

/** Events that wait behind a beginning of which they are no part; beyond, it is let go, or masked. */
export const maxHeldEvents = 32;
/** So much of a beginning may be let go: less than half of the shortest secret. */
const maxLetGoChars = 4;

interface Entry {
  readonly event: TextEvent;
  readonly texts: readonly StreamedText[];
  /** What is shown of each text. */
  readonly shown: string[];
  /** Texts of which some is held. */
  open: number;
}

interface Part {
  readonly entry: Entry;
  readonly nth: number;
  rest: string;
}

interface Channel {
  readonly parts: Part[];
  /** From the beginning that is held on. */
  pending: string;
  /** Characters of it that have been sent already, or masked. */
  gone: number;
  isMasked: boolean;
}

export function createHoldBack(seeker: Seeker, mask: string): HeldBack {
  const channels = new Map<string, Channel>();
  const queue: Entry[] = [];

  function scan(isLast: boolean): void {
    for (const name of channels.keys()) scanOne(name, isLast);
  }
  function scanOne(name: string, isLast: boolean): void {
    const channel = channels.get(name);
    if (channel === undefined) return;
    let from = 0;
    while (from < channel.pending.length) {
      const { found, open } = seeker.at(channel.pending, from);
      if (open && !isLast) break;
      if (found === null) from += 1;
      else {
        pass(channel, from, null);
        pass(channel, found.end - from, found.shown);
        from = 0;
      }
    }
    pass(channel, from, null);
    if (channel.pending === '') channels.delete(name);
  }
  function release(): TextEvent[] {
    const ready: TextEvent[] = [];
    while (queue[0]?.open === 0) {
      const written = rewritten(queue.shift() as Entry);
      if (written !== null) ready.push(written);
    }
    return ready;
  }
  /** Lets the first event go, with what it holds of beginnings. */
  function force(): void {
    for (const channel of channels.values()) {
      if (channel.parts.some(({ entry }) => entry === queue[0]))
        letGo(channel, seeker.at(channel.pending, 0).found?.shown ?? null, mask);
    }
  }
  const waiting = (): number =>
    queue.length > maxHeldEvents ? queue.filter(({ open }) => open === 0).length : queue.length;

  return {
    take(event) {
      const texts = event.texts ?? [];
      const entry: Entry = { event, texts, shown: texts.map(() => ''), open: 0 };
      queue.push(entry);
      for (const [nth, { text, part }] of texts.entries()) {
        if (part === '') continue;
        const channel = channels.get(text) ?? { parts: [], pending: '', gone: 0, isMasked: false };
        channels.set(text, channel);
        channel.parts.push({ entry, nth, rest: part });
        channel.pending += part;
        entry.open += 1;
        scanOne(text, false);
      }
      const ready = release();
      while (waiting() > maxHeldEvents) {
        force();
        ready.push(...release());
      }
      return ready;
    },
    again() {
      scan(false);
      return release();
    },
    end() {
      scan(true);
      return release();
    },
  };
}

/** The first characters are decided: shown as they are, or replaced. */
function pass(channel: Channel, count: number, instead: string | null): void {
  const old = Math.min(channel.gone, count);
  show(channel, count - old, channel.isMasked && old > 0 && instead !== null ? '' : instead);
  channel.pending = channel.pending.slice(count);
  channel.gone -= old;
  if (channel.gone === 0) channel.isMasked = false;
}

/** Sends what is held of a beginning, and remembers it: if it becomes whole all the same, the rest is replaced. */
function letGo(channel: Channel, found: string | null, mask: string): void {
  // INVARIANT: no more than this is ever shown of what must not be.
  const isShort = found === null && channel.pending.length <= maxLetGoChars;
  const instead = channel.isMasked ? '' : (found ?? mask);
  show(channel, channel.pending.length - channel.gone, isShort ? null : instead);
  channel.gone = channel.pending.length;
  channel.isMasked ||= !isShort;
}

/** Gives so many characters back to the events that they came in; a replacement goes to the first of these. */
function show({ parts }: Channel, count: number, instead: string | null): void {
  let left = count;
  let word = instead ?? '';
  while (left > 0) {
    const [part] = parts as [Part, ...Part[]];
    const chars = Math.min(left, part.rest.length);
    part.entry.shown[part.nth] += instead === null ? part.rest.slice(0, chars) : word;
    word = '';
    part.rest = part.rest.slice(chars);
    left -= chars;
    if (part.rest !== '') continue;
    parts.shift();
    part.entry.open -= 1;
  }
}

/** INVARIANT: an event into which its text cannot be written is not sent. */
function rewritten({ event, texts, shown }: Entry): TextEvent | null {
  const changed = texts.map((text, nth) => ({ ...text, part: shown[nth] ?? '' }));
  if (changed.every(({ part }, nth) => part === texts[nth]?.part)) return event;
  let data = parsed(event.data);
  for (const { path, part } of changed) {
    const next: Json | undefined = data === undefined ? undefined : withText(data, path, part);
    if (next === undefined) return null;
    data = next;
  }
  return { ...event, data: JSON.stringify(data), texts: changed };
}

function parsed(data: string): Json | undefined {
  try {
    return JSON.parse(data) as Json;
  } catch {
    return undefined;
  }
}

/** Undefined if there is no text at this path. */
function withText(value: Json, path: readonly (string | number)[], part: string): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return typeof value === 'string' ? part : undefined;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  const inner = withText((value as Readonly<Record<string | number, Json>>)[step] as Json, rest, part);
  if (inner === undefined) return undefined;
  if (Array.isArray(value)) return (value as readonly Json[]).map((each, at) => (at === step ? inner : each));
  return { ...value, [step]: inner };
}
