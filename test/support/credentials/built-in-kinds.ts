/** The kinds of secrets that ship with the gateway as extensions, made as a gateway makes them. */
import { createHostHttp } from '../../../src/compose/extensions/create-host.ts';
import { createHttpAsker } from '../../../src/adapters/shared/ask-http.ts';
import type { JsonObject } from '../../../src/core/values/json.ts';
import { vault } from '../../../src/extensions/vault/index.ts';
import type { Host } from '../../../src/extension/index.ts';
import type { SecretProvider } from '../../../src/ports/secret-provider.ts';
import { nodeClock } from '../../../src/adapters/system-node/clock.ts';

export function aHost(over: Partial<Host> = {}): Host {
  const asker = createHttpAsker();
  return {
    settings: {},
    signal: new AbortController().signal,
    nowMs: () => nodeClock.nowMs(),
    of: () => undefined,
    fail: (_class, _code, message) => {
      throw new Error(message);
    },
    suppressed: () => undefined,
    http: createHostHttp(async () => asker),
    ...over,
  };
}

export function builtInKind(kind: string, settings: JsonObject, over: Partial<Host> = {}): SecretProvider {
  if (kind !== 'vault') throw new Error(`no kind '${kind}' ships with the gateway`);
  return vault.credentials.vault.create(settings, aHost(over));
}
