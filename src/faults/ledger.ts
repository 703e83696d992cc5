/**
 * The ledger: an append-only file of JSON lines that tells what the upstream received, did and answered. Effects are
 * on the disk before they are answered. A last line that was cut off by a crash is removed when the file is opened.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isObject, type JsonObject } from '../core/values/json.ts';
import type { OperationName } from './operations.ts';

export interface Entry {
  readonly n: number;
  readonly at: string;
  readonly kind: 'received' | 'effect' | 'answered';
  readonly operation: OperationName;
  readonly key: string | null;
  readonly args: JsonObject;
  /** Number of the connection, from 1; 0 is standard input. */
  readonly connection: number;
  /** Of a received request. */
  readonly fault?: string;
  /** Of an effect: what it made. */
  readonly id?: string;
  /** Of an answer over HTTP. */
  readonly status?: number;
}

export interface LedgerLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export const defaultLedgerLimits: LedgerLimits = { maxEntries: 1_000_000, maxBytes: 256 << 20 };

export interface Ledger {
  readonly effects: readonly Entry[];
  /** A sentence if nothing more can be recorded: then no request may have an effect. */
  readonly problem: () => string | null;
  /** The number of the next entry. */
  readonly next: () => number;
  /** Throws if the disk does not take it. */
  append(entry: Omit<Entry, 'n'>): Entry;
  close(): void;
}

export type OpenedLedger = { readonly ok: true; readonly ledger: Ledger } | { readonly ok: false; message: string };

export function openLedger(file: string, limits: LedgerLimits = defaultLedgerLimits): OpenedLedger {
  let handle: number | null = null;
  try {
    handle = openSync(file, 'a+', 0o600);
    const { size } = fstatSync(handle);
    if (size > limits.maxBytes)
      throw new Error(`it has more than ${limits.maxBytes} bytes: move it away, or name another file`);
    const whole = readWhole(readFileSync(file));
    if (whole.bytes < size) ftruncateSync(handle, whole.bytes);
    return { ok: true, ledger: createLedger(handle, whole, limits) };
  } catch (error) {
    if (handle !== null) closeSync(handle);
    const { code, message } = error as NodeJS.ErrnoException;
    return { ok: false, message: `the ledger '${file}' cannot be used (${code ?? message})` };
  }
}

interface Whole {
  readonly bytes: number;
  readonly count: number;
  readonly effects: Entry[];
}

/** INVARIANT: a line counts only with its line feed, which is written last. */
function readWhole(content: Buffer): Whole {
  const bytes = content.lastIndexOf('\n') + 1;
  const lines = content.subarray(0, bytes).toString('utf8').split('\n').slice(0, -1);
  const effects: Entry[] = [];
  for (const [at, line] of lines.entries()) {
    const entry = parsed(line);
    if (entry === null || entry.n !== at + 1)
      throw new Error(`line ${at + 1} is not an entry of a ledger: move the file away, or name another`);
    if (entry.kind === 'effect') effects.push(entry);
  }
  return { bytes, count: lines.length, effects };
}

function parsed(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value['kind'] === 'string' && isObject(value['args'])
      ? (value as unknown as Entry)
      : null;
  } catch {
    // Not JSON: the caller names the line.
    return null;
  }
}

function createLedger(handle: number, { bytes, count, effects }: Whole, limits: LedgerLimits): Ledger {
  let written = count;
  let length = bytes;
  let broken: string | null = null;
  return {
    effects,
    problem: () => {
      // Room for the entries of the request that asks.
      const isFull = written + 4 > limits.maxEntries || length >= limits.maxBytes;
      return broken ?? (isFull ? 'the ledger is full: start again with another file' : null);
    },
    next: () => written + 1,
    append(fields) {
      const entry: Entry = { n: written + 1, ...fields };
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        for (let at = 0; at < line.length;) at += writeSync(handle, line, at);
        // INVARIANT: an effect is on the disk before anybody can be told of it.
        if (entry.kind === 'effect') fsyncSync(handle);
      } catch (error) {
        broken = `the ledger cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
        throw error;
      }
      written += 1;
      length += line.length;
      if (entry.kind === 'effect') effects.push(entry);
      return entry;
    },
    close: () => closeSync(handle),
  };
}
