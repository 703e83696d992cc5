/**
 * Keeps keys of this gateway out of what tools give: a live key, or the beginning of one, is masked before anybody records or answers
 * it, and an operator is told. The keys are those beside the store, opened when a result first holds something like one.
 */
import { findKeyTexts } from '../adapters/keyring-sqlite/find-keys.ts';
import { idIn } from '../adapters/keyring-sqlite/key-text.ts';
import type { SqliteKeyring } from '../adapters/keyring-sqlite/sqlite-keyring.ts';
import type { Attempt, Upstream, UpstreamResult } from '../ports/upstream.ts';
import { openKeysBeside } from './keys-beside.ts';

export interface KeyGuard {
  readonly upstream: Upstream;
  close(): Promise<void>;
}

export interface KeyGuardParts {
  readonly store: string;
  readonly nowMs: () => number;
  /** Ids of keys, never their secrets. */
  readonly onMasked: (attempt: Attempt, keyIds: readonly string[]) => void;
}

/** Whoever waits for a result does not wait long for a process that holds the file. */
const patienceMs = 250;
/** No honest result holds more; beyond it whatever looks like a key is masked unasked. */
const maxAsked = 1_000;

export function guardKeys(upstream: Upstream, { store, nowMs, onMasked }: KeyGuardParts): KeyGuard {
  let keyring: SqliteKeyring | null = null;

  /** Null if there are no keys; `unknown` if they cannot be read now. */
  const open = async (): Promise<SqliteKeyring | null | 'unknown'> => {
    if (keyring !== null) return keyring;
    const opened = await openKeysBeside(store, { create: false, patienceMs });
    if (opened.kind === 'refused') return opened.reason === 'missing' ? null : 'unknown';
    // Of two that opened it at once one is enough.
    if (keyring !== null) await opened.keyring.close();
    return (keyring ??= opened.keyring);
  };
  const liveOf = async (texts: readonly string[]): Promise<ReadonlySet<string>> => {
    const keys = await open();
    if (keys === null) return new Set();
    // INVARIANT: where nobody can say whether a text is a key, it is taken for one.
    if (keys === 'unknown' || texts.length > maxAsked) return new Set(texts);
    const live = await Promise.all(texts.map((text) => keys.isLive(text, nowMs()).catch(() => true)));
    return new Set(texts.filter((_, at) => live[at]));
  };
  const masked = async (attempt: Attempt, result: UpstreamResult): Promise<UpstreamResult> => {
    const found = lookInto(result);
    if (found === null) return result;
    const live = await liveOf(found.texts);
    if (live.size === 0) return result;
    onMasked(attempt, [...new Set([...live].map((text) => idIn(text) ?? ''))]);
    return found.mask(live) as UpstreamResult;
  };
  return {
    upstream: {
      async invoke(attempt, signal, late) {
        const hearLate = late && ((result: UpstreamResult) => void masked(attempt, result).then(late));
        return masked(attempt, await upstream.invoke(attempt, signal, hearLate));
      },
    },
    close: async () => keyring?.close(),
  };
}

/** What cannot even be looked through is no JSON, and is refused as such later. */
function lookInto(result: UpstreamResult): ReturnType<typeof findKeyTexts> {
  try {
    return findKeyTexts(result);
  } catch {
    return null;
  }
}
