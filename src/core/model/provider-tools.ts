/**
 * The tools that a provider of models is: one for each operation, with what gates, budgets and recovery must know of
 * it. Made from the file alone, so `check` knows them without a network; what the provider says comes later. Pure.
 */
import type { FieldError, ToolEntry } from '../call/catalogue.ts';
import { destinationOf } from '../egress/destination.ts';
import { reachOf } from '../policy/policy.ts';
import type { DeclaredRecovery } from '../recovery/declared.ts';
import type { Entry } from '../recovery/playbook.ts';
import { compileSchema } from '../schema/compile-schema.ts';
import { effectClasses, type EffectClass } from '../taxonomy.ts';
import { canonicalText } from '../values/canonical.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { meteredBy, modelUse, type Said } from './describe-use.ts';
import type { ModelProvider } from './model-provider.ts';
import type { ModelOperation } from './protocol.ts';

const nothingSaid: Said = () => new Map();

export function entriesOf(provider: ModelProvider, said = nothingSaid): ReadonlyMap<string, ToolEntry> {
  const entries = Object.entries(provider.protocol.operations).map(([name, operation]) =>
    entryOf(provider, name, operation, said),
  );
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function entryOf(provider: ModelProvider, operationName: string, operation: ModelOperation, said: Said): ToolEntry {
  const { url, kind, timeoutMs, declared } = provider;
  const name = `${provider.name}/${operationName}`;
  const { description, input } = operation;
  // Asking a model changes nothing; what it costs is a matter of its own.
  const effectClass = 'pure';
  return {
    name,
    description,
    effectClass,
    timeoutMs,
    dedupeWindowMs: null,
    reportsWithinMs: null,
    input: { kind: 'schema', check: checkOf(input) },
    invokes: name,
    inputSchema: input,
    listing: null,
    policyName: name,
    reach: reachOf(effectClass),
    ...(destinationOf(url) ?? { host: null }),
    models: modelUse(operation, declared, said),
    metered: meteredBy(operation, declared, said),
    manifest: canonicalText({
      name,
      effect: effectClass,
      timeout_ms: timeoutMs,
      provider: { kind, url, path: operation.path },
      ...manifestOf(provider),
      tool: { name: operationName, description, inputSchema: input },
    }),
  };
}

/** By what calls are judged and priced. */
const manifestOf = ({ declared }: ModelProvider): JsonObject => ({
  models: declared.models.map(({ price, ...model }) => ({
    ...model,
    ...(price === undefined ? {} : { price: { ...price } }),
  })),
  aliases: { ...declared.aliases },
});

/** Compiled with the first call. */
function checkOf(schema: JsonObject): (args: Json) => readonly FieldError[] {
  let check: ((args: Json) => readonly FieldError[]) | null = null;
  return (args) => {
    if (check === null) {
      const compiled = compileSchema(schema);
      const says = compiled.ok ? '' : `judged by a schema that works; this one does not: ${compiled.problem}`;
      check = compiled.ok ? compiled.check : () => [{ path: '', expected: says, got: null }];
    }
    return check(args);
  };
}

const transient: Entry = {
  action: { kind: 'retry_with_backoff', max_attempts: 3, backoff_ms: [1_000, 2_000, 4_000] },
  jitter: 0.2,
};
const forEach = (entry: Entry) =>
  Object.fromEntries(Object.keys(effectClasses).map((name) => [name, entry])) as Record<EffectClass, Entry>;

/** Of every provider, before what its kind and the file say. Rate limits are retried as everywhere. */
export const providerRecovery: DeclaredRecovery = {
  playbook: { transient_timeout: forEach(transient), server_error_5xx: forEach(transient) },
};
