/**
 * Hides the secrets of credentials in everything that comes back from tools and servers: in results, failures, late
 * answers and notices, as they are and as base64, hexadecimal, URL or JSON text. Also those that were replaced meanwhile.
 */
import { redacted } from '../../core/policy/redact-paths.ts';
import type { Json } from '../../core/values/json.ts';
import type { Attempt, Failure, Upstream, UpstreamResult } from '../../ports/upstream.ts';

export interface SecretHider {
  add(secret: string): void;
  /** The same value where it holds no secret. Goes through plain objects and lists. */
  hide<Value>(value: Value): Value;
}

/** Rotated ones included. The oldest is forgotten first. */
const maxSecrets = 200;
const maxDepth = 200;
const minChars = 8;

export function createSecretHider(): SecretHider {
  const secrets = new Map<string, readonly string[]>();
  let forms: readonly string[] = [];

  function hideText(text: string): string {
    let shown = text;
    for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, redacted);
    return shown;
  }

  function hideIn(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return hideText(value);
    if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
    // INVARIANT: what is too deep to be searched is not shown.
    if (depth > maxDepth) return redacted;
    if (Array.isArray(value)) {
      const items = value.map((each) => hideIn(each, depth + 1));
      return items.every((each, at) => Object.is(each, value[at])) ? value : items;
    }
    const entries = Object.entries(value);
    const hidden = entries.map(([key, each]) => [hideText(key), hideIn(each, depth + 1)] as const);
    const isSame = hidden.every(([key, each], at) => key === entries[at]?.[0] && Object.is(each, entries[at]?.[1]));
    return isSame ? value : Object.fromEntries(hidden);
  }

  return {
    add(secret) {
      if (secret.length < minChars || secrets.has(secret)) return;
      // A server that gets it in a header does not see the white space around it.
      secrets.set(secret, [...formsOf(secret), ...formsOf(secret.trim())]);
      const [oldest] = secrets.size > maxSecrets ? secrets.keys() : [];
      if (oldest !== undefined) secrets.delete(oldest);
      // A longer one first: it may hold a shorter one.
      forms = [...new Set([...secrets.values()].flat())].toSorted((a, b) => b.length - a.length);
    },
    hide: (value) => (forms.length === 0 ? value : (hideIn(value, 0) as typeof value)),
  };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

export function formsOf(secret: string): readonly string[] {
  const addressed = encodeURIComponent(secret.toWellFormed());
  const formed = new URLSearchParams({ '': secret }).toString().slice(1);
  const lower = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (each) => each.toLowerCase());
  const quoted = JSON.stringify(secret).slice(1, -1);
  const hex = Buffer.from(secret).toString('hex');
  return [
    secret,
    quoted,
    // As PHP and .NET write JSON.
    quoted.replaceAll('/', '\\/'),
    quoted.replaceAll(/[&'+<>`]/g, codePointOf),
    addressed,
    lower(addressed),
    formed,
    lower(formed),
    hex,
    hex.toUpperCase(),
    ...base64Of(Buffer.from(secret)),
  ].filter((form) => form.length >= minChars);
}

const codePointOf = (char: string): string => `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** By itself, and within a longer text: what comes before shifts it by one or two bytes. */
function base64Of(bytes: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return whole.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const standard = [bytes.toString('base64'), ...shifted];
  return [...standard, ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))];
}

/** INVARIANT: no secret of a credential gets past this, whatever an upstream repeats of its request. */
export function hideSecrets(upstream: Upstream, { hide }: SecretHider): Upstream {
  return {
    async invoke(attempt, signal, late) {
      const hearLate = late && ((result: UpstreamResult) => late(hideResult(result, hide)));
      return hideResult(await upstream.invoke(withHiddenErrors(attempt, hide), signal, hearLate), hide);
    },
  };
}

function hideResult(result: UpstreamResult, hide: SecretHider['hide']): UpstreamResult {
  try {
    if (result.kind === 'returned') return { ...result, output: hide(result.output), errors: hide(result.errors) };
    const { given, ...said } = result.failure;
    if (given === undefined) return { kind: 'failed', failure: hide(said) };
    const { output, withoutWords, tell } = given;
    const hidden = {
      output: hide(output),
      ...(withoutWords === undefined ? {} : { withoutWords: hide(withoutWords) }),
      tell: (told: Json): Pick<Failure, 'message' | 'cause'> => hide(tell(told)),
    };
    return { kind: 'failed', failure: { ...hide(said), given: hidden } };
  } catch {
    // Ignored: a value that cannot be read is not JSON, and is refused later.
    return result;
  }
}

function withHiddenErrors(attempt: Attempt, hide: SecretHider['hide']): Attempt {
  const { suppressed } = attempt;
  return suppressed === undefined ? attempt : { ...attempt, suppressed: (told) => suppressed(hide(told)) };
}
