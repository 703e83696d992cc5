/**
 * Makes providers of models, and their tools, of what is written under `models` and of the kinds that there are. Every
 * problem is reported at its place. Sends nothing.
 */
import type { Config, ModelsConfig } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import { defaultModelTimeoutMs, type ModelKinds, type ModelProvider } from '../../core/model/model-provider.ts';
import { entriesOf } from '../../core/model/provider-tools.ts';
import { nearest } from '../../core/values/nearest.ts';

export interface LoadedModels {
  readonly providers: readonly ModelProvider[];
  readonly declared: Catalogue;
}

export function loadModels({ models }: Config, kinds: ModelKinds, tell: Tell): LoadedModels {
  const providers = models.flatMap((written) => toProvider(written, kinds, tell) ?? []);
  return { providers, declared: new Map(providers.flatMap((provider) => [...entriesOf(provider)])) };
}

/** Null if it cannot be served, which was reported. */
function toProvider(written: ModelsConfig, kinds: ModelKinds, tell: Tell): ModelProvider | null {
  const { name, kind, headers, timeoutMs, limits, declared, places, at } = written;
  const found = kinds.get(kind);
  if (found === undefined) {
    // One that could not be read was reported.
    if (kind !== '')
      tell(places.get('kind') ?? at, `there are no models of the kind '${kind}'`, knownKinds(kind, kinds));
    return null;
  }
  const url = written.url ?? found.url;
  if (url === null) {
    tell(at, `a provider of the kind '${kind}' has no usual address`, 'add url');
    return null;
  }
  // An address with a variable that is not set was reported before.
  if (URL.parse(url) === null) return null;
  const { protocol } = found;
  return { name, kind, url, headers, timeoutMs: timeoutMs ?? defaultModelTimeoutMs, limits, protocol, declared };
}

function knownKinds(kind: string, kinds: ModelKinds): string {
  const names = [...kinds.keys()];
  const near = nearest(kind, names);
  if (near !== null) return `did you mean ${near}?`;
  return names.length === 0 ? 'no kind is installed' : `use one of ${names.join(', ')}`;
}
