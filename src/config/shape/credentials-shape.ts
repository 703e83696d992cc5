/** Shape of the section credentials: where secrets come from, which tools get them, and where they go. Data only. */
import { toolPattern } from './agent-shape.ts';
import { kindUse } from './extension-shape.ts';
import { duration, type FieldsShape, listOf, named, type Shape, text } from './shape.ts';

const secret = (says: string) => text(says, { template: true });
const address = (says: string) =>
  text(says, { template: true, pattern: ['^https?://[^\\s]+$', 'an address that begins with http:// or https://'] });
const variable = (says: string) =>
  text(says, { pattern: ['^[A-Za-z_][A-Za-z0-9_]{0,127}$', 'the name of a variable'] });

const agentName = text('an agent', {
  pattern: ['^[A-Za-z0-9_.@:-]{1,128}$', '1 to 128 letters, digits, _ . @ : or -'],
});

const vault: FieldsShape = {
  kind: 'fields',
  says: 'a secret of HashiCorp Vault or OpenBao',
  oneOf: ['token', 'role_id'],
  fields: {
    address: { shape: address('where Vault is'), required: true },
    path: {
      shape: text('its path below /v1, such as secret/data/stripe for KV v2', {
        template: true,
        pattern: ['^/?[^\\s?#]{1,512}$', 'a path without spaces'],
      }),
      required: true,
    },
    field: { shape: text('the field that holds it'), required: true },
    token: { shape: secret('the token: ${VAULT_TOKEN}') },
    role_id: { shape: secret('in place of a token: the role of AppRole') },
    secret_id: { shape: secret('and its secret id: ${NAME}') },
    namespace: { shape: text('the namespace', { template: true }) },
  },
};

const oauth: FieldsShape = {
  kind: 'fields',
  says: 'an access token by OAuth 2.0 client credentials',
  fields: {
    token_url: { shape: address('where tokens are given'), required: true },
    client_id: { shape: secret('who asks'), required: true },
    client_secret: { shape: secret('the secret of the client: ${NAME}'), required: true },
    scope: { shape: text('the scopes, with spaces between them') },
    audience: { shape: text('whom the token is for') },
    client_auth: { shape: text('how the client proves who it is; basic if not given', { oneOf: ['basic', 'post'] }) },
  },
};

const device: FieldsShape = {
  kind: 'fields',
  says: 'an access token for which a person signs in, by OAuth 2.0 device authorization (RFC 8628)',
  fields: {
    device_url: { shape: address('where a sign-in is asked for'), required: true },
    token_url: { shape: address('where tokens are given'), required: true },
    client_id: { shape: secret('who asks'), required: true },
    client_secret: { shape: secret('the secret of the client, if it has one: ${NAME}') },
    scope: { shape: text('the scopes, with spaces between them') },
    audience: { shape: text('whom the token is for') },
  },
};

const inject: FieldsShape = {
  kind: 'fields',
  says: 'where the secret goes',
  oneOf: ['header', 'query', 'meta', 'env'],
  fields: {
    header: {
      shape: text('a header of the request', {
        pattern: ["^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$", 'the name of a header'],
      }),
    },
    query: { shape: text('a parameter of the address, for HTTP APIs') },
    meta: { shape: text('a key of _meta, for calls over MCP') },
    env: { shape: variable('a variable in the environment of a server that is started') },
    value: {
      shape: text('what is sent; {secret} stands for the secret', {
        pattern: ['^[\\t\\u0020-\\u007e]*\\{secret\\}[\\t\\u0020-\\u007e]*$', 'one line with {secret} in it'],
      }),
    },
  },
};

export const credentialProviders = ['env', 'file', 'exec', 'vault', 'oauth', 'device', 'extension'] as const;

export const credentialsShape: Shape = named('where secrets come from, and which tools get them', {
  kind: 'fields',
  says: 'a secret, and which tools get it',
  oneOf: credentialProviders,
  fields: {
    env: {
      shape: {
        kind: 'fields',
        says: 'a variable of the gateway',
        fields: { name: { shape: variable('its name'), required: true } },
      },
    },
    file: {
      shape: {
        kind: 'fields',
        says: 'a file that holds nothing else',
        fields: { path: { shape: text('from the folder of this file', { template: true }), required: true } },
      },
    },
    exec: {
      shape: {
        kind: 'fields',
        says: 'a program that prints the secret, or JSON with secret and expires_in',
        fields: {
          command: { shape: text('the program', { template: true }), required: true },
          args: { shape: listOf('its arguments', text('an argument', { template: true })) },
        },
      },
    },
    vault: { shape: vault },
    oauth: { shape: oauth },
    device: { shape: device },
    extension: { shape: kindUse('a source of secrets of an extension') },
    match: { shape: listOf('the tools that get it', toolPattern, 1), required: true },
    agents: { shape: listOf('only for calls of these agents; of all if not given', agentName, 1) },
    inject: { shape: inject, required: true },
    timeout: { shape: duration('how long fetching it may take; 5s if not given', 1, 60_000) },
    retry_after: {
      shape: duration('how long a failure counts before the provider is asked again; 30s if not given', 1_000),
    },
    max_age: {
      shape: duration('how long a secret without a lifetime is used before it is fetched again', 1_000),
    },
  },
});
