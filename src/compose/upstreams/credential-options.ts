/** The options with which a program declares credentials; the same fields as in recourse.yaml. Fetches nothing. */
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import { declaredCredential } from '../../config/read-credentials.ts';
import { compileToolPattern } from '../../core/policy/tool-pattern.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { secondsToMs } from '../../core/values/duration.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';

export type CredentialOptions = {
  /** The tools that get it: of servers and HTTP tools. */
  readonly match: readonly string[];
  readonly agents?: readonly string[];
  readonly inject: { readonly value?: string } & (
    | { readonly header: string }
    | { readonly query: string }
    | { readonly meta: string }
    | { readonly env: string }
  );
  readonly timeout_seconds?: number;
  readonly retry_after_seconds?: number;
  readonly max_age_seconds?: number;
} & (
  | { readonly env: { readonly name: string } }
  | { readonly file: { readonly path: string } }
  | { readonly exec: { readonly command: string; readonly args?: readonly string[] } }
  | {
      readonly vault: {
        readonly address: string;
        readonly path: string;
        readonly field: string;
        readonly namespace?: string;
      } & ({ readonly token: string } | { readonly role_id: string; readonly secret_id: string });
    }
  | {
      readonly oauth: {
        readonly token_url: string;
        readonly client_id: string;
        readonly client_secret: string;
        readonly scope?: string;
        readonly audience?: string;
        readonly client_auth?: 'basic' | 'post';
      };
    }
  | {
      /** A person signs in, with a code: RFC 8628. */
      readonly device: {
        readonly device_url: string;
        readonly token_url: string;
        readonly client_id: string;
        readonly client_secret?: string;
        readonly scope?: string;
        readonly audience?: string;
      };
    }
);

const durations = [
  ['timeout_seconds', 'timeout'],
  ['retry_after_seconds', 'retry_after'],
  ['max_age_seconds', 'max_age'],
] as const;

export function credentialsOf(
  options: Readonly<Record<string, CredentialOptions>> | undefined,
): readonly DeclaredCredential[] {
  if (options === undefined) return [];
  if (!isObject(options)) return refuse('option `credentials` must be an object: { name: {...} }');
  return Object.entries(options).map(([name, given]) => {
    const fields: Record<string, unknown> = { ...(given as object) };
    for (const [seconds, written] of durations) {
      const value = fields[seconds];
      if (value === undefined) continue;
      if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
        return refuse(`\`${seconds}\` of credential '${name}' must be a number of seconds above 0`);
      fields[written] = secondsToMs(value);
    }
    const declared = declaredCredential(name, fields as JsonObject);
    const isUsable = declared?.match.every((each) => compileToolPattern(each).ok) === true;
    if (declared !== null && isUsable && declared.template.includes('{secret}')) return declared;
    return refuse(
      `credential '${name}' is not whole: it needs one of env, file, exec, vault, oauth and device with its fields, match, and inject with {secret} in its value`,
    );
  });
}

function refuse(message: string): never {
  throw new GatewayError('bad_options', message);
}
