/**
 * Folds the events of a response into the answer that would have come without a stream. The last event brings it whole;
 * before that it is made of the items that were done, and of what had come of the others.
 */
import type { Json, JsonObject } from '../../extension/index.ts';
import { GrowingText } from '../shared/fold-text.ts';
import { countOf, isObject, objectOf, textOf } from '../shared/read-json.ts';

interface Item {
  readonly start: JsonObject;
  /** By part and field, in the order in which they began. */
  readonly texts: Map<string, { readonly field: string; readonly at: number | null; readonly text: GrowingText }>;
  done: JsonObject | null;
}

/** Which field of an item, or of one of its parts, a delta belongs to. */
const fieldOfDelta: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'text',
  'response.reasoning_summary_text.delta': 'text',
  'response.function_call_arguments.delta': 'arguments',
  'response.mcp_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};

const lastEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);
export const isLast = (type: string | null): boolean => type !== null && lastEvents.has(type);

export class ResponseFold {
  #response: JsonObject = {};
  #isWhole = false;
  readonly #items = new Map<number, Item>();

  take(event: JsonObject): void {
    const type = textOf(event['type']) ?? '';
    const response = event['response'];
    if (isObject(response)) {
      this.#response = response;
      this.#isWhole = isLast(type);
      return;
    }
    const at = countOf(event['output_index']);
    if (at === null) return;
    if (type === 'response.output_item.added') return this.#start(at, objectOf(event['item']));
    const item = this.#items.get(at);
    if (item === undefined) return;
    if (type === 'response.output_item.done') item.done = objectOf(event['item']);
    else takeDelta(item, type, event);
  }

  #start(at: number, start: JsonObject): void {
    this.#items.set(at, { start, texts: new Map(), done: null });
  }

  answer(): JsonObject {
    const said = this.#response['output'];
    if (this.#isWhole && Array.isArray(said) && (said.length > 0 || this.#items.size === 0)) return this.#response;
    const output = [...this.#items].toSorted(([a], [b]) => a - b).map(([, item]) => item.done ?? partialOf(item));
    return { ...this.#response, output };
  }
}

function takeDelta({ texts }: Item, type: string, event: JsonObject): void {
  const field = fieldOfDelta[type];
  const delta = textOf(event['delta']);
  if (field === undefined || delta === null) return;
  const at = countOf(event['content_index']) ?? countOf(event['summary_index']);
  const key = `${'summary_index' in event ? 'summary' : 'content'} ${at} ${field}`;
  const known = texts.get(key) ?? { field, at, text: new GrowingText() };
  texts.set(key, known);
  known.text.add(delta);
}

/** An item of which not all has come. */
function partialOf({ start, texts }: Item): Json {
  const whole = [...texts.values()].filter(({ at }) => at === null);
  const parts = [...texts].filter(([, { at }]) => at !== null);
  const fields = Object.fromEntries(whole.map(({ field, text }) => [field, text.text]));
  const content = parts.map(([key, { field, text }]) => {
    const type = key.startsWith('summary') ? 'summary_text' : field === 'refusal' ? 'refusal' : 'output_text';
    return { type, [field]: text.text };
  });
  if (content.length === 0) return { ...start, ...fields };
  return { ...start, ...fields, [parts[0]?.[0].startsWith('summary') === true ? 'summary' : 'content']: content };
}
