/**
 * Chance from a seed: the only source of it in a simulated world. Streams are separate, so one more draw moves no
 * other.
 */

export interface Random {
  /** From 0 to 1, the latter excluded. */
  next(): number;
  /** Whole, both ends included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the names, each as likely as its weight says. */
  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name;
  bytes(count: number): Uint8Array;
  text(chars: number): string;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Small and good enough: mulberry32, started at a hash of seed and stream. */
export function createRandom(seed: number, stream: string): Random {
  let state = seed >>> 0;
  for (let i = 0; i < stream.length; i++) state = Math.imul(state ^ stream.charCodeAt(i), 0x9e3779b1) >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const next = () => word() / 2 ** 32;
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    chance: (probability) => probability > 0 && next() < probability,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights & string, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name as never;
      }
      return entries.at(-1)?.[0] as never;
    },
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i += 4) {
        const drawn = word();
        for (let at = 0; at < 4 && i + at < count; at++) bytes[i + at] = drawn >>> (8 * at);
      }
      return bytes;
    },
    text(chars) {
      let drawn = '';
      for (let i = 0; i < chars; i += 6)
        for (let word32 = word(), at = 0; at < 6 && i + at < chars; at++) drawn += alphabet[(word32 >>> (5 * at)) & 31];
      return drawn;
    },
  };
}
