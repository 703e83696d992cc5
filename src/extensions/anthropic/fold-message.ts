/** Folds the events of a message into the answer that would have come without a stream. */
import type { Json, JsonObject } from '../../extension/index.ts';
import { GrowingText } from '../shared/fold-text.ts';
import { countOf, isObject, objectOf, parseJson, textOf, withoutNulls } from '../shared/read-json.ts';

interface Block {
  readonly start: JsonObject;
  /** Of texts that grow: by the name of the field. */
  readonly texts: Map<string, GrowingText>;
  readonly input: GrowingText;
  readonly citations: Json[];
  /** Fields that come whole. */
  set: JsonObject;
}

/** Which field of its block a delta adds to. */
export const grownFields: Readonly<Record<string, string>> = { text_delta: 'text', thinking_delta: 'thinking' };

export class MessageFold {
  #message: JsonObject = {};
  #delta: JsonObject = {};
  #usage: JsonObject = {};
  readonly #blocks = new Map<number, Block>();

  take(event: JsonObject): void {
    const at = countOf(event['index']);
    switch (event['type']) {
      case 'message_start':
        this.#message = objectOf(event['message']);
        break;
      case 'content_block_start':
        if (at !== null) this.#blocks.set(at, blockOf(objectOf(event['content_block'])));
        break;
      case 'content_block_delta':
        takeDelta(this.#blocks.get(at ?? -1), objectOf(event['delta']));
        break;
      case 'message_delta':
        // Totals of the whole message: what comes later counts.
        this.#delta = { ...this.#delta, ...objectOf(event['delta']) };
        this.#usage = { ...this.#usage, ...withoutNulls(objectOf(event['usage'])) };
        break;
      default:
        break;
    }
  }

  answer(): JsonObject {
    const content = [...this.#blocks].toSorted(([a], [b]) => a - b).map(([, block]) => wholeOf(block));
    const usage = { ...objectOf(this.#message['usage']), ...this.#usage };
    return { ...this.#message, content, ...this.#delta, ...(Object.keys(usage).length === 0 ? {} : { usage }) };
  }
}

const blockOf = (start: JsonObject): Block => ({
  start,
  texts: new Map(),
  input: new GrowingText(),
  citations: [],
  set: {},
});

function takeDelta(block: Block | undefined, delta: JsonObject): void {
  if (block === undefined) return;
  const type = textOf(delta['type']) ?? '';
  const field = grownFields[type];
  if (field !== undefined) {
    const text = block.texts.get(field) ?? new GrowingText();
    block.texts.set(field, text);
    text.add(textOf(delta[field]) ?? '');
  }
  if (type === 'input_json_delta') block.input.add(textOf(delta['partial_json']) ?? '');
  if (type === 'signature_delta') block.set = { ...block.set, signature: delta['signature'] ?? null };
  if (type === 'citations_delta') block.citations.push(delta['citation'] ?? null);
}

function wholeOf({ start, texts, input, citations, set }: Block): JsonObject {
  const grown = [...texts].map(([field, { text }]) => [field, (textOf(start[field]) ?? '') + text] as const);
  const before = start['citations'];
  const cited = citations.length === 0 ? {} : { citations: [...(Array.isArray(before) ? before : []), ...citations] };
  // What is no whole JSON was cut off: then it is shown as it came.
  const written = input.text;
  const parsed = written === '' ? null : parseJson(written);
  const entered = written === '' ? {} : { input: isObject(parsed) ? parsed : written };
  return { ...start, ...Object.fromEntries(grown), ...entered, ...cited, ...set };
}
