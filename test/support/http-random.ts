/** Requests as nobody sends them on purpose: nearly right ones, wrong ones, and bytes that are no HTTP at all. */
import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';
import { httpRoutes, routeNames } from '../../src/core/http/http-routes.ts';

export type RandomRequest =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly target: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer | null;
    }
  /** Written to a socket as it is; then the client says that nothing more comes. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** What the store knows by name, so that some requests find something. */
export interface Known {
  readonly keys: readonly string[];
  readonly ids: readonly string[];
}

const anyOf = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const someText = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: anyCharacter, maxLength: 10 }));
/** What can stand in a header at all. */
const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

const methods = anyOf(['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']);

/** Most are a route with its own method; some with another, some are no route at all. */
function targets({ ids }: Known): fc.Arbitrary<readonly [method: string, target: string]> {
  const id = fc.oneof(anyOf([...ids, ...ids, 'none', '..', '%2e%2e', '%00', '%', '{id}']), someText.map(inUrl));
  const route = fc
    .tuple(anyOf(routeNames), id)
    .map(([name, one]) => [httpRoutes[name].method, httpRoutes[name].path.replace('{id}', one)] as const);
  const other = fc.tuple(methods, route).map(([method, [, path]]) => [method, path] as const);
  const segment = fc.oneof(
    anyOf(['', 'v1', 'calls', 'sessions', 'approvals', 'events', 'audit', '%', '*']),
    someText.map(inUrl),
  );
  const odd = fc
    .tuple(methods, fc.array(segment, { maxLength: 6 }))
    .map(([method, parts]) => [method, `/${parts.join('/')}`] as const);
  const field = anyOf(['wait', 'limit', 'after', 'before', 'agent', 'session', 'state', 'follow', 'x', '']);
  const value = fc.oneof(
    anyOf(['0', '1', '-1', '1e9', '3.17', 'true', 'SUCCEEDED', 'bot', ...ids]),
    someText.map(inUrl),
  );
  const pairs = fc.array(fc.tuple(field, value), { maxLength: 4 });
  const query = fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: pairs.map((some) => `?${some.map((pair) => pair.join('=')).join('&')}`) },
  );
  const place = fc.oneof(
    { weight: 12, arbitrary: route },
    { weight: 2, arbitrary: other },
    { weight: 1, arbitrary: odd },
  );
  return fc.tuple(place, query).map(([[method, path], search]) => [method, `${path}${search}`] as const);
}

/** Half of it escaped wrongly, as it comes. */
function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ff';
  }
}

function headers({ keys }: Known): fc.Arbitrary<Record<string, string>> {
  const key = fc.oneof(
    { weight: 16, arbitrary: anyOf(keys).map((one) => `Bearer ${one}`) },
    { weight: 1, arbitrary: anyOf(['', 'Bearer', 'Bearer x', 'Basic eA==', `Bearer ${keys[0]} ${keys[0]}`]) },
    { weight: 1, arbitrary: headerText },
  );
  const types = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'APPLICATION/JSON', ''];
  return fc.record(
    {
      authorization: key,
      'content-type': fc.oneof(
        { weight: 8, arbitrary: anyOf(types) },
        { weight: 16, arbitrary: fc.constant('application/json') },
        { weight: 1, arbitrary: headerText },
      ),
      host: fc.oneof({ weight: 30, arbitrary: fc.constant('localhost') }, { weight: 1, arbitrary: headerText }),
      origin: anyOf([...Array<string>(12).fill('http://localhost'), 'null', 'https://evil.example', '']),
      'idempotency-key': fc.oneof(anyOf(['k1', 'k2', '']), headerText),
      prefer: anyOf(['wait=0', 'wait=x', 'respond-async', 'wait="1"', ',;=']),
      'last-event-id': anyOf(['1.1', 'x', '', '99999999999.1']),
      expect: anyOf(['100-continue', 'nothing']),
      accept: headerText,
    },
    { requiredKeys: ['authorization', 'host'] },
  );
}

function bodies({ ids }: Known): fc.Arbitrary<Buffer | null> {
  const word = fc.oneof(
    anyOf(['echo', 'refund', 'held', 'take_order', 'coffee', 'bot', 'k1', 'yes', ...ids]),
    someText,
  );
  const names = [
    'tool',
    'args',
    'action',
    'inputs',
    'session',
    'key',
    'workflow',
    'seq',
    'happened',
    'agent',
    'model',
    'reason',
    'shown',
  ];
  const field = anyOf([...names, 'wait_seconds', 'deadline_seconds', 'expected_seq', 'turn', '__proto__', 'x']);
  const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }), fc.integer(), fc.constant({ amount: 1 }));
  const likely = fc.dictionary(field, value, { maxKeys: 5 });
  const call = fc.record({ tool: anyOf(['echo', 'refund', 'held']), args: fc.constantFrom({}, { amount: 2 }, [1]) });
  const text = fc
    .oneof(call, likely, fc.jsonValue({ maxDepth: 3 }))
    .map((one) => Buffer.from(JSON.stringify(one), 'utf8'));
  const cut = fc.tuple(text, fc.nat(40)).map(([bytes, at]) => bytes.subarray(0, at));
  return fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 2, arbitrary: fc.constant(null) },
  );
}

function garbage(known: Known): fc.Arbitrary<Buffer> {
  const line = fc.oneof(
    targets(known).map(([method, target]) => `${method} ${target} HTTP/1.1`),
    anyOf([
      'GET / HTTP/9.9',
      'GET  /v1/calls',
      'POST http://evil/v1/calls HTTP/1.1',
      'GET * HTTP/1.1',
      'PRI * HTTP/2.0',
    ]),
    someText,
  );
  const header = fc.oneof(
    anyOf([
      'host: localhost',
      'content-length: 5',
      'content-length: -1',
      'content-length: 5\r\ncontent-length: 6',
      'transfer-encoding: chunked',
      'transfer-encoding: gzip, chunked',
      'content-type: application/json',
      'upgrade: websocket\r\nconnection: upgrade',
      `x: ${'x'.repeat(17_000)}`,
      ': no name',
    ]),
    anyOf(known.keys).map((key) => `authorization: Bearer ${key}`),
    someText,
  );
  const tail = fc.oneof(
    anyOf(['', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', '{"tool":"echo"}', 'GET /healthz HTTP/1.1\r\n']),
    someText,
  );
  const request = fc
    .tuple(line, fc.array(header, { maxLength: 5 }), tail)
    .map(([first, rest, end]) => `${[first, ...rest].join('\r\n')}\r\n\r\n${end}`);
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(request, { minLength: 1, maxLength: 3 }).map((all) => Buffer.from(all.join(''), 'latin1')),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  );
}

export function randomRequests(known: Known): fc.Arbitrary<RandomRequest> {
  const request = fc
    .tuple(targets(known), headers(known), bodies(known))
    .map(([[method, target], given, body]) => ({ kind: 'request', method, target, headers: given, body }) as const);
  const bytes = fc.record({ kind: fc.constant('bytes' as const), bytes: garbage(known) });
  return fc.oneof({ weight: 5, arbitrary: request }, { weight: 1, arbitrary: bytes });
}
