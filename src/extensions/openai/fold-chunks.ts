/**
 * Folds the chunks of a chat completion into the answer that would have come without a stream. Texts are joined, lists
 * with an `index` are merged by it, other lists are appended, and fields that nobody here knows are kept.
 */
import type { Json, JsonObject } from '../../extension/index.ts';
import { GrowingText } from '../shared/fold-text.ts';
import { countOf, isObject, listOf, objectOf } from '../shared/read-json.ts';

/** Texts that say what something is: each time they come they are whole. */
const names: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'object', 'model', 'format']);

type Grown = Json | GrowingText | GrownList | GrownObject;
type GrownObject = Map<string, Grown>;

class GrownList {
  readonly items: Grown[] = [];
  /** Where the item with each `index` stands. */
  readonly places = new Map<number, GrownObject>();
}

function grow(before: Grown | undefined, name: string, part: Json): Grown {
  if (part === null) return before ?? null;
  if (typeof part === 'string') return growText(before, name, part);
  if (Array.isArray(part)) return growList(before, part as readonly Json[]);
  if (!isObject(part)) return part;
  const object: GrownObject = before instanceof Map ? before : new Map();
  growInto(object, part);
  return object;
}

function growText(before: Grown | undefined, name: string, part: string): Grown {
  if (names.has(name)) return part;
  const text = before instanceof GrowingText ? before : new GrowingText();
  text.add(part);
  return text;
}

function growList(before: Grown | undefined, parts: readonly Json[]): GrownList {
  const list = before instanceof GrownList ? before : new GrownList();
  for (const part of parts) {
    const index = countOf(objectOf(part)['index']);
    if (index === null) {
      list.items.push(part);
      continue;
    }
    const known = list.places.get(index);
    const item: GrownObject = known ?? new Map();
    if (known === undefined) {
      list.places.set(index, item);
      list.items.push(item);
    }
    const { index: _, ...rest } = objectOf(part);
    growInto(item, rest);
  }
  return list;
}

function growInto(object: GrownObject, parts: JsonObject): void {
  for (const [name, part] of Object.entries(parts)) object.set(name, grow(object.get(name), name, part));
}

function shown(grown: Grown): Json {
  if (grown instanceof GrowingText) return grown.text;
  if (grown instanceof GrownList) return grown.items.map(shown);
  if (grown instanceof Map) return Object.fromEntries([...grown].map(([name, each]) => [name, shown(each)]));
  return grown;
}

interface Choice {
  readonly message: GrownObject;
  readonly more: GrownObject;
}

/** Of chunks alone. */
const leftOut: ReadonlySet<string> = new Set(['object', 'choices', 'obfuscation']);

export class ChunkFold {
  readonly #head = new Map<string, Json>();
  readonly #choices = new Map<number, Choice>();

  take(chunk: JsonObject): void {
    for (const [name, value] of Object.entries(chunk))
      if (!leftOut.has(name) && (value !== null || !this.#head.has(name))) this.#head.set(name, value);
    for (const each of listOf(chunk['choices'])) this.#takeChoice(objectOf(each));
  }

  #takeChoice({ index, delta, ...more }: JsonObject): void {
    const at = countOf(index) ?? 0;
    const choice = this.#choices.get(at) ?? { message: new Map(), more: new Map() };
    this.#choices.set(at, choice);
    growInto(choice.message, objectOf(delta));
    const { finish_reason = null, ...rest } = more;
    growInto(choice.more, rest);
    if (finish_reason !== null || !choice.more.has('finish_reason')) choice.more.set('finish_reason', finish_reason);
  }

  answer(): JsonObject {
    const head = Object.fromEntries([...this.#head].filter(([name, value]) => name !== 'usage' || value !== null));
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, { message, more }]) => ({ index, message: shown(message), ...objectOf(shown(more)) }));
    return { ...head, object: 'chat.completion', choices };
  }
}
