/**
 * Makes, of what is declared and of what the provider says of itself, the two answers that gates and budgets ask for:
 * which model a request asks for and whether it can answer (`ModelUse`), and how much a request uses (`Metered`). What
 * is not known lets pass. Pure.
 */
import type { Json, JsonObject } from '../values/json.ts';
import { fewestTokens, mostTokens } from './estimate-tokens.ts';
import { type DeclaredModel, type DeclaredModels, needsOf } from './model-provider.ts';
import type { CapabilityCode, Metered, ModelUse } from './model-use.ts';
import { costOf, isWriteDearer } from './price.ts';
import type { ListedModel, ModelNeeds, ModelOperation, TokenUsage } from './protocol.ts';

/** What the provider says of its models now, by name; empty until it was asked. */
export type Said = () => ReadonlyMap<string, ListedModel>;

/** What is known of a model: the file first, then the provider. */
export function knownModel(name: string, { models }: DeclaredModels, said: Said): DeclaredModel {
  const written = models.find((model) => model.name === name);
  return { name, ...said().get(name), ...written };
}

export function modelUse(operation: ModelOperation, declared: DeclaredModels, said: Said): ModelUse {
  const names = declared.models.map(({ name }) => name);
  const lackOf = (model: string, needs: ModelNeeds) => lack(knownModel(model, declared, said), needs);
  return {
    nameIn: (args) => needsOf(operation, args, declared)?.model ?? null,
    problemWith(args, permits) {
      const needs = needsOf(operation, args, declared);
      const model = needs?.model ?? null;
      if (names.length > 0 && (model === null || !names.includes(model)))
        return { kind: 'undeclared', model, known: names.filter(permits) };
      if (needs === null || model === null) return null;
      const lacking = lackOf(model, needs);
      if (lacking === null) return null;
      const qualified = names.filter((name) => permits(name) && lackOf(name, needs) === null);
      return { kind: 'lacks', model, ...lacking, qualified };
    },
  };
}

function lack(
  { name, streaming, tools, contextTokens }: DeclaredModel,
  needs: ModelNeeds,
): { readonly code: CapabilityCode; readonly says: string } | null {
  if (needs.streaming && streaming === false)
    return { code: 'MissingStreaming', says: `model '${name}' does not stream, and the request asks for a stream` };
  if (needs.tools && tools === false)
    return { code: 'MissingToolCalling', says: `model '${name}' calls no tools, and the request brings tools` };
  if (contextTokens === undefined) return null;
  const output = needs.maxOutputTokens ?? 0;
  const tokens = fewestTokens(needs.inputChars) + output;
  if (tokens <= contextTokens) return null;
  const asked = output === 0 ? '' : `, ${output} of them for the answer`;
  const says = `the request needs at least ${tokens} tokens${asked}; model '${name}' takes ${contextTokens}`;
  return { code: 'ContextWindowTooSmall', says };
}

export function meteredBy(operation: ModelOperation, declared: DeclaredModels, said: Said): Metered {
  const priced = (model: string | null, usage: TokenUsage): JsonObject => {
    const price = model === null ? undefined : knownModel(model, declared, said).price;
    const cost = price === undefined ? null : costOf(price, usage);
    const { inputTokens, outputTokens } = usage;
    return {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      ...(cost === null ? {} : { cost }),
    };
  };
  return {
    most(args) {
      const needs = needsOf(operation, args, declared);
      if (needs === null || needs.model === null) return null;
      const { contextTokens, maxOutputTokens, price } = knownModel(needs.model, declared, said);
      const outputTokens = needs.maxOutputTokens ?? maxOutputTokens ?? contextTokens;
      if (outputTokens === undefined) return null;
      const inputTokens = Math.min(mostTokens(needs.inputChars), contextTokens ?? Infinity);
      // The dearest way to read it: nobody knows yet what a cache holds.
      const cacheWriteTokens = price !== undefined && isWriteDearer(price) ? inputTokens : 0;
      const written = outputTokens * (needs.answers ?? 1);
      return priced(needs.model, { inputTokens, outputTokens: written, cacheReadTokens: 0, cacheWriteTokens });
    },
    used(args: Json, result: Json) {
      const usage = operation.usage(result);
      return usage === null ? null : priced(needsOf(operation, args, declared)?.model ?? null, usage);
    },
  };
}
