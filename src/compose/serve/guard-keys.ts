/**
 * Masks live API keys of this gateway in the results of tools, before they are recorded or returned, and notifies the
 * operator. The keys beside the store are opened when a result first contains something like a key.
 */
import { findKeyIds, type FoundKeyIds } from '../../adapters/keyring-sqlite/find-keys.ts';
import type { LiveKeys } from '../../adapters/keyring-sqlite/key-search.ts';
import type { SqliteKeyring } from '../../adapters/keyring-sqlite/sqlite-keyring.ts';
import type { Json } from '../../core/values/json.ts';
import type { Attempt, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import type { MaskedKeys } from '../../shell/upkeep/record-runtime.ts';
import { openKeysOf } from '../state/key-files.ts';

export interface KeyGuard {
  readonly upstream: Upstream;
  close(): Promise<void>;
}

export interface KeyGuardParts {
  readonly store: string;
  readonly nowMs: () => number;
  readonly onMasked: (attempt: Attempt, keys: MaskedKeys) => void;
}

/** A result does not wait long for a process that has locked the file. */
const patienceMs = 250;
/** Beyond this number, everything that looks like a key is masked without asking. */
const maxAsked = 1_000;
const maxNamed = 20;

export function guardKeys(upstream: Upstream, { store, nowMs, onMasked }: KeyGuardParts): KeyGuard {
  let keyring: SqliteKeyring | null = null;

  /** Null if there are no keys; `unknown` if they cannot be read now. */
  const open = async (): Promise<SqliteKeyring | null | 'unknown'> => {
    if (keyring !== null) return keyring;
    const opened = await openKeysOf(store, { create: false, patienceMs });
    if (opened.kind === 'refused') return opened.reason === 'missing' ? null : 'unknown';
    // Two results may open it at once; one is closed again.
    if (keyring !== null) await opened.keyring.close();
    return (keyring ??= opened.keyring);
  };
  /** Null if there are no keys. */
  const liveOf = async (ids: readonly string[]): Promise<LiveKeys | null> => {
    const keys = await open();
    if (keys === null) return null;
    const asked = keys === 'unknown' ? null : keys.liveHashes(ids.slice(0, maxAsked), nowMs());
    // Ignored: what cannot be looked up counts as a key below.
    const hashes = (await asked?.catch(() => null)) ?? null;
    // INVARIANT: an id that cannot be checked counts as the id of a key.
    return { hashes: hashes ?? new Map(), unsure: new Set(hashes === null ? ids : ids.slice(maxAsked)) };
  };
  const masked = async (attempt: Attempt, result: UpstreamResult): Promise<UpstreamResult> => {
    const found = lookInto(result);
    const live = found && (await liveOf(found.ids));
    const shown = live && found.mask(live);
    if (shown === null) return result;
    // INVARIANT: only ids of real keys are reported, never ones that a tool made up.
    const keyIds = shown.keyIds.filter((id) => live?.hashes.has(id)).slice(0, maxNamed);
    onMasked(attempt, { keyIds, more: shown.keyIds.length - keyIds.length });
    return withTold(result, shown.value as ToldBy);
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

/** A value that cannot be read is not JSON, and is refused later. */
function lookInto(result: UpstreamResult): FoundKeyIds | null {
  try {
    return findKeyIds(toldBy(result));
  } catch {
    return null;
  }
}

type ToldBy = ReturnType<typeof toldBy>;

/** The parts that come from a tool. Kinds and codes are ours and are not searched. */
function toldBy(result: UpstreamResult) {
  if (result.kind === 'returned')
    return { output: result.output, items: result.errors.map(({ item, message }) => ({ item, message })) };
  const { subject, errorType, message, cause, given, partial } = result.failure;
  const arrived = partial === undefined ? {} : { partial };
  return { output: given?.output, failure: { subject, errorType, message, cause, ...arrived } };
}

function withTold(result: UpstreamResult, { output, items, failure }: ToldBy): UpstreamResult {
  if (result.kind === 'returned')
    return { ...result, output, errors: result.errors.map((error, nth) => ({ ...error, ...items?.[nth] })) };
  const { given } = result.failure;
  const told = { ...result.failure, ...failure };
  return {
    kind: 'failed',
    failure: given === undefined ? told : { ...told, given: { ...given, output: output as Json } },
  };
}
