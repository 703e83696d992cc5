/** Shape of an HTTP API under `tools`, and of a tool that is a request. Data only; read-apis.ts checks the meaning. */
import { conflictNames, redirectRules } from '../config.ts';
import { count, duration, type Field, listOf, named, type Shape, text } from './shape.ts';

export const httpMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const headerName = ["^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$", 'the name of a header'] as const;
const oneLine = ['^[^\\u0000-\\u001f\\u007f]*$', 'one line'] as const;

export const headersShape: Shape = named(
  'headers of every request',
  text('a value, or ${NAME} in it', { template: true, pattern: oneLine }),
  headerName,
);

const codes = listOf('codes in its error bodies', text('a code', { pattern: ['^\\S{1,200}$', 'a word'] }), 1, 100);

export const httpShape: Shape = {
  kind: 'fields',
  says: 'an HTTP API',
  strangers: { base_url: { says: 'the address of an API is called url here', fix: 'write url', insteadOf: 'url' } },
  fields: {
    url: {
      shape: text('where its paths begin', {
        template: true,
        pattern: ['^https?://', 'an address that begins with http:// or https://'],
      }),
      required: true,
    },
    headers: { shape: headersShape },
    openapi: {
      shape: {
        kind: 'either',
        says: 'its OpenAPI document: a path, or file and operations',
        text: text('the path of an OpenAPI 3.0 or 3.1 document, JSON or YAML'),
        map: {
          kind: 'fields',
          says: 'its OpenAPI document, and which operations become tools',
          fields: {
            file: { shape: text('the path of an OpenAPI 3.0 or 3.1 document, JSON or YAML'), required: true },
            operations: {
              shape: listOf('these operations alone; * stands for anything', text('the name of its tool'), 1),
            },
          },
        },
      },
    },
    redirects: { shape: text('which redirects are followed; none if not given', { oneOf: redirectRules }) },
    max_redirects: { shape: count('redirects of one call; 5 if not given', 1, 20) },
    key: {
      shape: {
        kind: 'either',
        says: 'where the idempotency key of a write goes; the header Idempotency-Key if not given',
        text: text('none: it is not sent', { oneOf: ['none'] }),
        map: {
          kind: 'fields',
          says: 'a header, or a field of the JSON body',
          oneOf: ['header', 'field'],
          fields: {
            header: { shape: text('the name of a header', { pattern: headerName }) },
            field: { shape: text('the name of a field', { pattern: ['^\\S{1,128}$', 'a name'] }) },
          },
        },
      },
    },
    conflicts: {
      shape: {
        kind: 'fields',
        says: 'by which codes it says what became of the key (409), or that evidence is stale (412; * for every 412)',
        fields: Object.fromEntries(conflictNames.map((name): [string, Field] => [name, { shape: codes }])),
      },
    },
    max_response: { shape: count('bytes of an answer; 4194304 if not given', 1, 1 << 30) },
    connect_timeout: { shape: duration('how long a connection may take; 10s if not given', 1, 600_000) },
    headers_timeout: { shape: duration('how long an answer may take to begin; 15m if not given') },
    body_timeout: { shape: duration('how long an answer may pause; 1m if not given') },
    connections: { shape: count('connections at once; 128 if not given', 1, 10_000) },
  },
};

const anything = (says: string): Shape => ({ kind: 'json', says, sort: 'anything' });
const map = (says: string): Shape => ({ kind: 'json', says, sort: 'map' });

/** Keys of a tool that is written out; without `request` an entry is a rule for operations of the document. */
export const requestFields: Readonly<Record<string, Field>> = {
  request: {
    shape: {
      kind: 'fields',
      says: 'the HTTP request that the tool is; {name} stands for an argument',
      fields: {
        method: { shape: text('its method', { oneOf: httpMethods }), required: true },
        path: {
          shape: text('its path, added to url', { pattern: ['^/[^\\s?#]*$', 'a path that begins with /, without ?'] }),
          required: true,
        },
        query: { shape: map('its query by name; the arguments that nothing else uses if not given') },
        headers: { shape: named('its headers', text('a value, with {name} for an argument'), headerName) },
        body: { shape: anything('its JSON body; the arguments that nothing else uses if not given') },
      },
    },
  },
  description: { shape: text('what the tool does, in a sentence; models choose tools by it') },
  input: { shape: map('JSON Schema of its arguments') },
  output: { shape: map('JSON Schema of its results') },
};
