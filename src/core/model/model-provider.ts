/**
 * A provider of models as it is declared: where it is, what its models can do and what they cost. Whoever sends to it
 * and whoever decides about it read the same. Types, and the one way to resolve an alias.
 */
import type { Json } from '../values/json.ts';
import type { ListedModel, ModelNeeds, ModelOperation, ModelProtocol } from './protocol.ts';

/** A kind of providers, by the name under which files know it. */
export interface ModelKind {
  readonly protocol: ModelProtocol;
  /** Where a provider of this kind usually is; null if there is no such place. */
  readonly url: string | null;
}

export type ModelKinds = ReadonlyMap<string, ModelKind>;

export interface ModelProvider {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly limits: ModelLimits;
  readonly protocol: ModelProtocol;
  readonly declared: DeclaredModels;
}

/** Those that are written. */
export interface ModelLimits {
  readonly connectTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  readonly bodyTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxConnections?: number;
}

export interface DeclaredModels {
  /** Empty: any model may be asked for. */
  readonly models: readonly DeclaredModel[];
  /** Other names of declared models. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface DeclaredModel extends ListedModel {
  readonly price?: Price;
}

/** For a million tokens each, in millionths of the currency. */
export interface Price {
  readonly currency: string;
  readonly inputMicros: number;
  readonly outputMicros: number;
  /** Input that comes from the cache of the provider, and input that is written to it; as other input if absent. */
  readonly cacheReadMicros?: number;
  readonly cacheWriteMicros?: number;
}

export const anyModel: DeclaredModels = { models: [], aliases: {} };

export const defaultModelTimeoutMs = 600_000;

/** The model that a name stands for. An alias is resolved once: it never stands for another alias. */
export const resolveModel = ({ aliases }: DeclaredModels, name: string): string =>
  Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;

/** What a request needs, with the model that is meant; null for arguments that are no request. */
export function needsOf({ needs }: ModelOperation, args: Json, declared: DeclaredModels): ModelNeeds | null {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return null;
  const read = needs(args as Parameters<typeof needs>[0]);
  return read.model === null ? read : { ...read, model: resolveModel(declared, read.model) };
}
