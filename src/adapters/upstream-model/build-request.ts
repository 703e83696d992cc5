/**
 * Builds a request to a provider: from the arguments and the configuration alone, so nothing of the request that came
 * in is passed on, least of all its key. Pure.
 */
import { type ModelProvider, resolveModel } from '../../core/model/model-provider.ts';
import type { ModelOperation } from '../../core/model/protocol.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { type HttpRequest, loginIn, reservedHeaders } from '../shared/http/http-request.ts';

export function buildModelRequest(provider: ModelProvider, operation: ModelOperation, args: JsonObject): HttpRequest {
  const { model, streaming } = operation.needs(args);
  const sent = model === null ? args : operation.withModel(args, resolveModel(provider.declared, model));
  const headers = headersOf(provider, streaming ? 'text/event-stream' : 'application/json');
  headers.set('content-type', 'application/json');
  return {
    method: 'POST',
    url: addressOf(provider, operation.path),
    headers,
    body: JSON.stringify(sent),
    hasKey: false,
  };
}

export function buildListRequest(provider: ModelProvider, path: string): HttpRequest {
  const headers = headersOf(provider, 'application/json');
  return { method: 'GET', url: addressOf(provider, path), headers, body: null, hasKey: false };
}

/** A query in the address of the provider goes with every request. */
function addressOf({ url }: ModelProvider, path: string): URL {
  const address = new URL(url);
  const { pathname, searchParams } = new URL(path, 'http://path.invalid');
  address.pathname = `${address.pathname.replace(/\/$/, '')}${pathname}`;
  for (const [name, value] of searchParams) address.searchParams.set(name, value);
  return address;
}

function headersOf({ url, protocol, headers }: ModelProvider, accept: string): Map<string, string> {
  const all = new Map([
    ['accept', accept],
    ['accept-encoding', 'identity'],
    ['user-agent', 'recourse'],
  ]);
  const login = loginIn(url);
  if (login !== null) all.set('authorization', login);
  for (const [name, value] of [...Object.entries(protocol.headers), ...Object.entries(headers)])
    all.set(name.toLowerCase(), value);
  for (const name of reservedHeaders) all.delete(name);
  return all;
}
