/**
 * Reads the providers under `models` and reports what does not fit together: aliases that lead nowhere, prices in
 * several currencies. Which kinds there are is not known here; compose/upstreams/load-models.ts checks that.
 */
import { readAmount } from '../core/budget/amount.ts';
import type { DeclaredModel, DeclaredModels, Price } from '../core/model/model-provider.ts';
import type { Json, JsonObject } from '../core/values/json.ts';
import { nearest } from '../core/values/nearest.ts';
import type { ModelsConfig } from './config.ts';
import type { Place, Tell } from './problem.ts';
import { readProviderRecovery } from './read-recovery.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import { mapOf, numberOf, textOf, textsOf, withoutGaps } from './yaml/plain-values.ts';
import type { Tree } from './yaml/yaml-tree.ts';

export const readModels = (written: JsonObject, tree: Tree, tell: Tell): readonly ModelsConfig[] =>
  Object.entries(written).map(([name, provider]) => toProvider(name, mapOf(provider), tree, tell));

function toProvider(name: string, read: JsonObject, tree: Tree, tell: Tell): ModelsConfig {
  const path = ['models', name];
  const at = (...keys: readonly string[]): Place => keyPlaceOf(tree, [...path, ...keys]);
  const url = textOf(read['url']);
  if (url !== null && !url.includes('${') && URL.parse(url) === null)
    tell(placeOf(tree, [...path, 'url']), 'this is no address', 'write the whole of it');
  const models = Object.entries(mapOf(read['models'])).map(([model, said]) => toModel(model, mapOf(said)));
  const declared = { models, aliases: textsOf(read['aliases']) };
  checkAliases(declared, (alias) => at('aliases', alias), tell);
  checkCurrencies(mapOf(read['models']), (model, key) => placeOf(tree, [...path, 'models', model, 'price', key]), tell);
  return {
    name,
    at: at(),
    kind: textOf(read['kind']) ?? '',
    url,
    headers: textsOf(read['headers']),
    timeoutMs: numberOf(read['timeout']),
    limits: withoutGaps({
      connectTimeoutMs: numberOf(read['connect_timeout']),
      headersTimeoutMs: numberOf(read['headers_timeout']),
      bodyTimeoutMs: numberOf(read['body_timeout']),
      maxResponseBytes: numberOf(read['max_response']),
      maxConnections: numberOf(read['connections']),
    }),
    declared,
    places: new Map([
      ['kind', placeOf(tree, [...path, 'kind'])],
      ...models.map((model) => [`model ${model.name}`, at('models', model.name)] as const),
      ...Object.keys(declared.aliases).map((alias) => [`alias ${alias}`, at('aliases', alias)] as const),
    ]),
    ...readProviderRecovery(read, path, { tree, tell }),
  };
}

function toModel(name: string, read: JsonObject): DeclaredModel {
  const price = toPrice(mapOf(read['price']));
  return {
    name,
    ...withoutGaps({
      contextTokens: numberOf(read['context']),
      maxOutputTokens: numberOf(read['max_output']),
      streaming: flagOf(read['streaming']),
      tools: flagOf(read['tools']),
      price,
    }),
  };
}

const flagOf = (value: Json | undefined): boolean | null => (typeof value === 'boolean' ? value : null);

/** Null if it is not whole, which was reported. */
function toPrice(read: JsonObject): Price | null {
  const amountOf = (key: string) => readAmount(textOf(read[key]) ?? '');
  const [input, output] = [amountOf('input'), amountOf('output')];
  if (input === null || output === null) return null;
  return {
    currency: input.unit,
    inputMicros: input.micros,
    outputMicros: output.micros,
    ...withoutGaps({
      cacheReadMicros: amountOf('cached')?.micros ?? null,
      cacheWriteMicros: amountOf('cache_write')?.micros ?? null,
    }),
  };
}

/** INVARIANT: an alias is resolved once, so it stands for a model and never for another alias. */
function checkAliases({ models, aliases }: DeclaredModels, at: (alias: string) => Place, tell: Tell): void {
  const names = models.map(({ name }) => name);
  for (const [alias, model] of Object.entries(aliases)) {
    if (names.includes(alias)) tell(at(alias), `'${alias}' is the name of a model`, 'give the alias another name');
    if (names.includes(model)) continue;
    if (Object.hasOwn(aliases, model)) tell(at(alias), `'${model}' is an alias itself`, 'name the model that is meant');
    else if (names.length > 0) {
      const near = nearest(model, names);
      const fix = near === null ? `use one of ${names.join(', ')}, or add it under models` : `did you mean ${near}?`;
      tell(at(alias), `there is no model '${model}' of this provider`, fix);
    }
  }
}

function checkCurrencies(models: JsonObject, at: (model: string, key: string) => Place, tell: Tell): void {
  const written = Object.entries(models).flatMap(([model, said]) =>
    Object.entries(textsOf(mapOf(said)['price'])).map(([key, text]) => ({ model, key, unit: readAmount(text)?.unit })),
  );
  const [first] = written;
  for (const { model, key, unit } of written)
    if (unit !== undefined && unit !== first?.unit)
      tell(at(model, key), `this is in ${unit}, and other prices of the provider are in ${first?.unit}`, 'use one');
}
