/**
 * Recognises tools: plain functions, tools of the AI SDK, tools of the OpenAI Agents SDK. Needs neither library and
 * calls no tool.
 */

/** `(args) => promise`. What is called over a wire cannot answer at once, so a function that does is no such tool. */
export type PlainTool = (args: never, options?: never) => PromiseLike<unknown>;

/**
 * `tool()` of the AI SDK: version 4 has `parameters`, later ones `inputSchema`. From version 7 a description may be a
 * function.
 */
export interface AiSdkTool {
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly parameters?: unknown;
  readonly execute?: ((args: never, options: never) => unknown) | undefined;
}

/** `tool()` of the OpenAI Agents SDK. Its input is the JSON text that the model wrote. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
  readonly invoke: (runContext: never, input: never, details?: never) => Promise<unknown>;
}

export type AnyTool = PlainTool | AiSdkTool | OpenAiTool;
export type ToolList = readonly AnyTool[];
export type ToolRecord = { readonly [name: string]: AnyTool };

export type Body = (...args: readonly unknown[]) => unknown;
export type Loose = Readonly<Record<string, unknown>>;

/** What was recognised, by the property that runs it; null if there is none. */
export type Recognised =
  | { readonly kind: 'plain'; readonly body: Body }
  | { readonly kind: 'ai'; readonly body: Body; readonly tool: Loose }
  | { readonly kind: 'openai'; readonly body: Body; readonly tool: Loose & { readonly name: string } };

export function recognise(tool: unknown): Recognised | null {
  if (typeof tool === 'function') return { kind: 'plain', body: tool as Body };
  if (typeof tool !== 'object' || tool === null) return null;
  const { type, name, invoke, execute } = tool as Loose;
  if (type === 'function' && typeof name === 'string' && typeof invoke === 'function')
    return { kind: 'openai', body: invoke as Body, tool: tool as Loose & { name: string } };
  return typeof execute === 'function' ? { kind: 'ai', body: execute as Body, tool: tool as Loose } : null;
}

/** Stands where the body of a tool would, when the body is behind the gateway: `execute: remote<Execute>()`. */
export function remote<Run extends (...args: never[]) => unknown>(): Run {
  const run = async () => {
    throw new TypeError('this tool runs at the gateway: pass it through governTools before it is used');
  };
  return run as unknown as Run;
}
