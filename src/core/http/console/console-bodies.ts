/** JSON Schemas of the HTTP bodies about signing in to the console, by component name. Part of http-bodies.ts. */
import { keyRoles, permissions } from '../../call/identity.ts';
import { closedObject, listOf, oneOfNames, type Schema, text } from '../reply-schema-fields.ts';

const maxSecretChars = 256;
const secret: Schema = { type: 'string', minLength: 1, maxLength: maxSecretChars };
const time: Schema = { type: 'string', format: 'date-time' };

export const consoleRequestBodies = {
  /** One of the two. */
  SignInRequest: closedObject({ code: secret, key: secret }, ['code', 'key']),
} as const satisfies Record<string, Schema>;

export function consoleAnswerBodies() {
  return {
    ConsoleLink: closedObject({ path: text, expires_at: time }),
    ConsoleSession: closedObject({
      tenant: text,
      name: text,
      role: oneOfNames(keyRoles),
      may: listOf(oneOfNames(Object.keys(permissions))),
      version: text,
      // Null for a key, which says itself how long it works.
      expires_at: { anyOf: [time, { type: 'null' }] },
    }),
    SignedOut: closedObject({ signed_out: { const: true } }),
  };
}
