/**
 * Hides what is the gateway's own in failures of tools: secrets of its configuration and environment, in the record
 * too, and its paths, in words for the agent only. Results of successful calls are passed on as they are.
 */
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import type { Json } from '../../core/values/json.ts';
import { type Hide, hiderOf } from '../../core/policy/hide-values.ts';
import { redacted } from '../../core/policy/redact-paths.ts';
import type { Attempt, Failure, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import { type Environment, stateRoot } from '../state/state-folder.ts';

export interface Own {
  readonly secrets: readonly string[];
  /** Files and folders, absolute. */
  readonly paths: readonly string[];
}

/** Where secrets of the configuration stand. */
interface Configured {
  readonly connect: { readonly headers?: Environment; readonly env?: Environment };
}

const secretName = /(?:^|[-_])(?:key|pwd)$|apikey|token|secret|passw|credential|cookie|authorization|auth(?!or)/i;
const minSecretChars = 8;
/** The hider shows nothing of a text above 200. */
const maxSecrets = 200;

export function ownOf(store: string, servers: readonly Configured[], env: Environment): Own {
  const configured = servers.flatMap(({ connect }) => [connect.headers ?? {}, connect.env ?? {}]);
  return {
    secrets: [...new Set([...configured, env].flatMap(secretsIn))].slice(0, maxSecrets),
    paths: [...installed(), stateRoot(env), path.resolve(store)],
  };
}

/** Values whose names say that they are secret, and the words of such a value. A path, as in PWD, is none. */
function secretsIn(values: Environment): readonly string[] {
  return Object.entries(values).flatMap(([name, value = '']) =>
    secretName.test(name) && !path.isAbsolute(value)
      ? [value, ...value.split(/\s+/)].filter((each) => each.length >= minSecretChars)
      : [],
  );
}

/** In a clone the folder may also hold the files that tools work on: only our code is meant. */
function installed(): readonly string[] {
  const root = path.resolve(fileURLToPath(new URL('../../..', import.meta.url)));
  if (path.basename(path.dirname(root)) === 'node_modules') return [root];
  return ['src', 'dist', 'bin', 'node_modules'].map((name) => path.join(root, name));
}

export function hideOwn(upstream: Upstream, own: Own): Upstream {
  const secret = hiderOf(own.secrets.map((each): [Json, Json] => [each, redacted])) ?? ((value) => value);
  const hiding = { secret, path: hidePaths(own.paths) };
  return {
    async invoke(attempt, signal, late) {
      const hidden = (result: UpstreamResult) => hideIn(result, hiding);
      const hearLate = late && ((result: UpstreamResult) => late(hidden(result)));
      return hidden(await upstream.invoke(withSecretsHidden(attempt, secret), signal, hearLate));
    },
  };
}

interface Hiding {
  readonly secret: Hide;
  readonly path: (text: string) => string;
}

function hideIn(result: UpstreamResult, { secret, path: hidePath }: Hiding): UpstreamResult {
  const words = (text: string) => hidePath(secret(text));
  if (result.kind === 'returned') {
    if (result.errors.length === 0) return result;
    return { ...result, errors: result.errors.map((error) => ({ ...error, message: words(error.message) })) };
  }
  const { failure } = result;
  const { given } = failure;
  const told = <Told extends Pick<Failure, 'message' | 'cause'>>(said: Told): Told => ({
    ...said,
    message: words(said.message),
    cause: secret(said.cause),
  });
  return {
    kind: 'failed',
    failure: {
      ...told(failure),
      errorType: words(failure.errorType),
      ...(failure.partial === undefined ? {} : { partial: secret(failure.partial) }),
      ...(given === undefined ? {} : { given: { ...given, tell: (output: Json) => told(given.tell(output)) } }),
    },
  };
}

function withSecretsHidden(attempt: Attempt, secret: Hide): Attempt {
  const { suppressed } = attempt;
  return suppressed === undefined ? attempt : { ...attempt, suppressed: (told) => suppressed(secret(told)) };
}

/** Replaces each path with all that follows in it, as a path or as a URL. Linear: the paths are literals. */
function hidePaths(paths: readonly string[]): (text: string) => string {
  const literals = paths.map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?:file://)?(?:${literals.join('|')})(?!\w)[^\s'"<>|()\],;]*`, 'g');
  return (text) => text.replace(pattern, '[path]');
}
