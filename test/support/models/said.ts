/** What a local provider is told to answer, in words that all protocols share. */
import type { JsonObject } from '../../../src/core/values/json.ts';

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface SaidTokens {
  /** All of the input, from a cache or not. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  /** Anthropic alone says it. */
  readonly cacheWrite?: number;
}

export interface Said {
  /** Thinking, or a reasoning item with a summary. */
  readonly reasoning?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly tools?: readonly ToolUse[];
  readonly stop?: 'length' | 'content_filter';
  /** Without it: estimated from the request and the answer. */
  readonly tokens?: SaidTokens;
  /** The length of a piece of text, and of arguments, in characters. */
  readonly pieceChars?: number;
}

export interface WireEvent {
  readonly event: string | null;
  readonly data: string;
}

/** A request as the provider has read it. */
export interface Asked {
  readonly id: string;
  readonly model: string;
  readonly body: JsonObject;
  readonly createdAt: number;
}

export const created = 1_780_000_000;

export function piecesOf(text: string, { pieceChars = 5 }: Said): readonly string[] {
  const count = Math.ceil(text.length / pieceChars);
  return Array.from({ length: count }, (_, at) => text.slice(at * pieceChars, (at + 1) * pieceChars));
}

export const event = (name: string | null, data: unknown): WireEvent => ({
  event: name,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

const tokensIn = (value: unknown): number => Math.ceil(JSON.stringify(value ?? '').length / 4);

export function tokensOf(said: Said, { body }: Asked, choices = 1): Required<SaidTokens> {
  const spoken = [said.reasoning ?? '', said.text ?? '', said.refusal ?? '', ...(said.tools ?? [])];
  const {
    input,
    output,
    cacheRead = 0,
    cacheWrite = 0,
  } = said.tokens ?? {
    input: tokensIn(body),
    output: tokensIn(spoken) * choices,
  };
  return { input, output, cacheRead, cacheWrite };
}
