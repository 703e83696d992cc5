/**
 * Wraps what extensions make, so that code which throws, or gives something else than its contract says, fails that
 * one secret, notice or check, by a name, and nothing else. Time limits are those of whoever waits.
 */
import { nameOf } from '../../adapters/upstream-function/describe-throw.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { canonicalise } from '../../core/values/canonical.ts';
import { isExtensionFailure } from '../../extension/failure.ts';
import type { Host } from '../../extension/host.ts';
import type { CredentialKind, NotifierKind, ValidatorFunction } from '../../extension/kinds.ts';
import type { DeliverNotice } from '../../ports/notice.ts';
import { failed, type Provided, provided, type SecretProvider } from '../../ports/secret-provider.ts';
import type { Validated } from '../../ports/validator.ts';

/** Of whom something is asked: the extension, the kind, and where what it threw is put on record. */
export interface Guarded {
  readonly extension: string;
  readonly kind: string;
  readonly host: Host;
}

/** INVARIANT: words that an extension chose by `fail` are told; those of any other error may hold a secret. */
const saidBy = (error: unknown): string =>
  isExtensionFailure(error) ? `${error.message} (${error.code})` : `it threw ${nameOf(error)}`;

export function guardProvider(of: CredentialKind, settings: JsonObject, guarded: Guarded): SecretProvider {
  const { kind, host } = guarded;
  let made: SecretProvider | null = null;
  // Made when it is first asked: a kind that throws fails its own secret alone.
  const provider = () => (made ??= of.create(settings, host));
  const asked = async (ask: () => Promise<Provided>): Promise<Provided> => {
    try {
      return secretIn(await ask(), asked);
    } catch (error) {
      host.suppressed(`a source of secrets of the kind '${kind}' threw`, error);
      return failed(saidBy(error));
    }
  };
  return {
    name: kind,
    get usualAgeMs() {
      const age: unknown = made?.usualAgeMs;
      return typeof age === 'number' && age > 0 ? age : null;
    },
    fetch: (signal) => asked(() => provider().fetch(signal)),
  };
}

type Asked = (ask: () => Promise<Provided>) => Promise<Provided>;

function secretIn(given: unknown, asked: Asked): Provided {
  if (!isObject(given)) return failed('an answer that is none');
  const { ok, secret, reason, lifetimeMs = null, renew, retryAfterMs } = given;
  if (ok === true && typeof secret === 'string') {
    const lifetime = typeof lifetimeMs === 'number' && lifetimeMs > 0 ? lifetimeMs : null;
    if (typeof renew !== 'function') return provided(secret, lifetime);
    return provided(secret, lifetime, (signal) =>
      asked(() => (renew as (by: AbortSignal) => Promise<Provided>)(signal)),
    );
  }
  if (ok !== false || typeof reason !== 'string') return failed('an answer that is none');
  return failed(reason, typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined);
}

export function guardNotifier(of: NotifierKind, settings: JsonObject, { kind, host }: Guarded): DeliverNotice {
  let made: DeliverNotice | null = null;
  return async (notice, signal) => {
    try {
      made ??= of.create(settings, host);
      return await made(notice, signal);
    } catch (error) {
      host.suppressed(`a notifier of the kind '${kind}' threw`, error);
      return { kind: 'failed', problem: saidBy(error), retryAfterMs: null };
    }
  };
}

/** INVARIANT: a validator that fails lets nothing pass. */
export function guardValidator(validate: ValidatorFunction, { extension, kind, host }: Guarded): ValidatorFunction {
  const refuse = (why: string): Validated => ({
    ok: false,
    errors: [
      {
        path: '',
        expected: `the validator '${kind}' of the extension '${extension}' ${why}`,
        got: null,
        said: 'verbatim',
      },
    ],
  });
  return async (args, about) => {
    try {
      // Its own copy: what a validator does to it changes no call.
      const judged: unknown = await validate(structuredClone(args), about);
      if (!isObject(judged)) return refuse('gave no judgement');
      if (judged['ok'] !== true)
        return Array.isArray(judged['errors']) ? refused(judged['errors'], refuse) : refuse('gave no judgement');
      const plain = canonicalise(judged['args'] ?? null, { maxDepth: 64 });
      return plain.ok
        ? { ok: true, args: JSON.parse(plain.text) as Json }
        : refuse(`gave arguments that are no JSON at '${plain.path}'`);
    } catch (error) {
      host.suppressed(`the validator '${kind}' threw`, error);
      return refuse(`failed: ${saidBy(error)}`);
    }
  };
}

const maxErrors = 20;
const maxChars = 500;

function refused(errors: readonly unknown[], refuse: (why: string) => Validated): Validated {
  const read = errors.slice(0, maxErrors).flatMap((each): FieldError[] => {
    if (!isObject(each) || typeof each['expected'] !== 'string') return [];
    const { path, expected, said } = each;
    const got = canonicalise(each['got'] ?? null, { maxDepth: 64 });
    return [
      {
        path: typeof path === 'string' ? path.slice(0, maxChars) : '',
        expected: (expected as string).slice(0, maxChars),
        got: got.ok ? (JSON.parse(got.text) as Json) : null,
        ...(said === true || said === 'verbatim' ? { said } : {}),
      },
    ];
  });
  return read.length === 0 ? refuse('refused these arguments') : { ok: false, errors: read };
}
