/** Reads the section credentials, and reports what does not fit together. Fetches nothing and opens no file. */
import {
  type CredentialSource,
  type DeclaredCredential,
  defaultRetryAfterMs,
  defaultTemplate,
  defaultTimeoutMs,
  type Injection,
} from '../core/credential/declared-credential.ts';
import { compileToolPattern } from '../core/policy/tool-pattern.ts';
import type { JsonObject } from '../core/values/json.ts';
import { unreachable } from '../core/values/unreachable.ts';
import type { Place, Tell } from './problem.ts';
import { credentialProviders } from './shape/credentials-shape.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import { itemsOf, mapOf, numberOf, textOf } from './yaml/plain-values.ts';
import type { Tree } from './yaml/yaml-tree.ts';

/** A credential of a file. A map, so that JSON shows no places. */
export interface WrittenCredential extends DeclaredCredential {
  readonly places: ReadonlyMap<'name' | 'match' | 'inject' | 'source', Place>;
}

interface Parts {
  readonly tree: Tree;
  readonly tell: Tell;
}

/** Headers by which a message is framed or routed. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function readCredentials(read: JsonObject, { tree, tell }: Parts): readonly WrittenCredential[] {
  return Object.entries(read).flatMap(([name, each]) => {
    const here = ['credentials', name];
    const fields = mapOf(each);
    for (const [index, pattern] of itemsOf(fields['match']).entries()) {
      const compiled = compileToolPattern(pattern);
      if (!compiled.ok) tell(placeOf(tree, [...here, 'match', index]), compiled.problem, compiled.fix);
    }
    const vault = mapOf(fields['vault']);
    if (vault['role_id'] !== undefined && vault['secret_id'] === undefined)
      tell(keyPlaceOf(tree, [...here, 'vault']), 'role_id stands without secret_id', 'add secret_id: ${NAME}');
    const declared = declaredCredential(name, fields);
    if (declared === null) return [];
    const { inject } = declared;
    if (inject.into === 'header' && ofTheConnection.has(inject.name.toLowerCase()))
      tell(
        placeOf(tree, [...here, 'inject', 'header']),
        `the header ${inject.name} belongs to the connection, and holds no secret`,
        'name the header in which the server expects it, such as Authorization',
      );
    const { provider } = declared.source;
    for (const [key, text] of addressesIn(declared.source))
      if (!text.includes('${') && URL.parse(text) === null)
        tell(placeOf(tree, [...here, provider, key]), 'this is no address', 'write the whole of it');
    const places = [
      ['name', keyPlaceOf(tree, here)],
      ['match', placeOf(tree, [...here, 'match', 0])],
      ['inject', keyPlaceOf(tree, [...here, 'inject'])],
      ['source', keyPlaceOf(tree, [...here, provider])],
    ] as const;
    return [{ ...declared, places: new Map(places) }];
  });
}

function addressesIn(source: CredentialSource): readonly (readonly [string, string])[] {
  if (source.provider === 'vault') return [['address', source.address]];
  if (source.provider === 'device')
    return [
      ['device_url', source.deviceUrl],
      ['token_url', source.tokenUrl],
    ];
  return source.provider === 'oauth' ? [['token_url', source.tokenUrl]] : [];
}

/** Of fields that have the shape of the section; null if something is missing, which has been reported. */
export function declaredCredential(name: string, fields: JsonObject): DeclaredCredential | null {
  const source = sourceOf(fields);
  const inject = injectionOf(mapOf(fields['inject']));
  const match = itemsOf(fields['match']);
  if (source === null || inject === null || match.length === 0) return null;
  return {
    name,
    source,
    match,
    agents: fields['agents'] === undefined ? null : itemsOf(fields['agents']),
    inject,
    template: textOf(mapOf(fields['inject'])['value']) ?? defaultTemplate(inject.into, inject.name),
    timeoutMs: numberOf(fields['timeout']) ?? defaultTimeoutMs,
    retryAfterMs: numberOf(fields['retry_after']) ?? defaultRetryAfterMs,
    maxAgeMs: numberOf(fields['max_age']),
  };
}

function injectionOf(fields: JsonObject): Injection | null {
  for (const into of ['header', 'query', 'meta', 'env'] as const) {
    const name = textOf(fields[into]);
    if (name !== null) return { into, name };
  }
  return null;
}

function sourceOf(fields: JsonObject): CredentialSource | null {
  const provider = credentialProviders.find((each) => fields[each] !== undefined);
  if (provider === undefined) return null;
  const given = mapOf(fields[provider]);
  switch (provider) {
    case 'env':
      return whole({ provider, variable: textOf(given['name']) });
    case 'file':
      return whole({ provider, path: textOf(given['path']) });
    case 'exec': {
      const command = textOf(given['command']);
      return command === null ? null : { provider, command, args: itemsOf(given['args']), cwd: null };
    }
    case 'vault':
      return vaultOf(given);
    case 'oauth':
      return oauthOf(given);
    case 'device':
      return deviceOf(given);
    case 'extension': {
      const kind = textOf(given['kind']);
      return kind === null ? null : { provider, kind, settings: mapOf(given['settings']) };
    }
    default:
      return unreachable(provider);
  }
}

function vaultOf(given: JsonObject): CredentialSource | null {
  const [token, roleId, secretId] = [textOf(given['token']), textOf(given['role_id']), textOf(given['secret_id'])];
  const approle = roleId === null || secretId === null ? null : ({ kind: 'approle', roleId, secretId } as const);
  const auth = token === null ? approle : ({ kind: 'token', token } as const);
  const [address, path, field] = [textOf(given['address']), textOf(given['path']), textOf(given['field'])];
  if (auth === null || address === null || path === null || field === null) return null;
  return { provider: 'vault', address, path, field, namespace: textOf(given['namespace']), auth };
}

function oauthOf(given: JsonObject): CredentialSource | null {
  const [tokenUrl, clientId] = [textOf(given['token_url']), textOf(given['client_id'])];
  const clientSecret = textOf(given['client_secret']);
  if (tokenUrl === null || clientId === null || clientSecret === null) return null;
  const clientAuth = given['client_auth'] === 'post' ? 'post' : 'basic';
  const asked = { scope: textOf(given['scope']), audience: textOf(given['audience']) };
  return { provider: 'oauth', tokenUrl, clientId, clientSecret, ...asked, clientAuth };
}

function deviceOf(given: JsonObject): CredentialSource | null {
  const [deviceUrl, tokenUrl, clientId] = [given['device_url'], given['token_url'], given['client_id']].map(textOf);
  if (!deviceUrl || !tokenUrl || !clientId) return null;
  const asked = { scope: textOf(given['scope']), audience: textOf(given['audience']) };
  return { provider: 'device', deviceUrl, tokenUrl, clientId, clientSecret: textOf(given['client_secret']), ...asked };
}

type Gappy<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | null };

/** Null if one of its fields is. */
function whole<Source extends CredentialSource>(fields: Gappy<Source>): Source | null {
  return Object.values(fields).includes(null) ? null : (fields as unknown as Source);
}
