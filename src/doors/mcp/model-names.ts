/**
 * Writes tool names as model APIs accept them (`^[a-zA-Z0-9_-]{1,64}$`), and reads them back. A name depends on its
 * tool alone, except for names without a server: these are used only if no other tool has the same.
 */
import crypto from 'node:crypto';
import { ownTools } from './own-tools.ts';
import type { ModelNames } from './parts.ts';

const maxChars = 64;
const markChars = 8;
const usable = /^[A-Za-z0-9_-]{1,64}$/;
/** Ends like a marked name: it gets a mark of its own, so that it cannot be the marked name of another tool. */
const looksMarked = /_[0-9a-f]{8}$/;

/** `server__tool`, with a hash of the whole name where that alone would be ambiguous. */
export function modelName(own: string): string {
  const slash = own.indexOf('/');
  if (slash < 0) return own.includes('__') ? marked(own, own) : bareName(own, own);
  const server = own.slice(0, slash);
  const joined = `${server}__${own.slice(slash + 1)}`;
  // INVARIANT: the first `__` ends the server.
  const isClear = !server.includes('__') && !server.endsWith('_');
  return isClear ? bareName(joined, own) : marked(joined, own);
}

/** `name` if model APIs accept it, otherwise marked with a hash of `own`. */
export function bareName(name: string, own: string): string {
  return usable.test(name) && !looksMarked.test(name) ? name : marked(name, own);
}

function marked(name: string, own: string): string {
  const start = name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, maxChars - markChars - 1);
  return `${start}_${crypto.hash('sha256', own, 'hex').slice(0, markChars)}`;
}

export interface ServedNames {
  /** The own names of all tools, listed to somebody or not. */
  readonly tools: Iterable<string>;
  /** Every server there is, connected or not. */
  readonly servers: readonly string[];
  /** Servers whose tools are listed without them. */
  readonly bare: ReadonlySet<string>;
  /** The one server that is served; null for all. Its tools are listed without it. */
  readonly only: string | null;
  /** Names that the same door uses for something else. */
  readonly taken: ReadonlySet<string>;
}

/** Names of the gateway's own tools: no other tool gets them without its server. */
const reserved: ReadonlySet<string> = new Set([ownTools.awaitApproval, ownTools.awaitTicket, ownTools.complete]);

export function toolNames({ tools, servers, bare, only, taken }: ServedNames): ModelNames {
  const owns = new Set(tools);
  const full = new Map([...owns].map((own) => [modelName(own), own]));
  const wished = new Map([...owns].map((own) => [own, bareWish(own, only === null ? bare : new Set([only]))]));
  const wishes = new Map<string, number>();
  for (const wish of wished.values()) if (wish !== null) wishes.set(wish, (wishes.get(wish) ?? 0) + 1);
  const isTaken = (wish: string) => full.has(wish) || reserved.has(wish) || taken.has(wish);
  const isFree = (wish: string) => wishes.get(wish) === 1 && !isTaken(wish);
  const listed = new Map(
    [...wished].map(([own, wish]) => [own, wish !== null && isFree(wish) ? wish : modelName(own)]),
  );
  const byListed = new Map([...listed].map(([own, name]) => [name, own]));
  const other = (given: string) => (owns.has(given) ? given : (full.get(given) ?? meant(given, servers, only)));
  return {
    write: (own) => listed.get(own) ?? modelName(own),
    // INVARIANT: the tool that is listed under a name is the one that runs by it.
    read: (given) => byListed.get(given) ?? other(given),
  };
}

/** Null if the tool is listed with its server. */
function bareWish(own: string, bare: ReadonlySet<string>): string | null {
  const slash = own.indexOf('/');
  return slash >= 0 && bare.has(own.slice(0, slash)) ? bareName(own.slice(slash + 1), own) : null;
}

/** The gateway's name of an unknown tool, by the server in its name. */
function meant(given: string, servers: readonly string[], only: string | null): string {
  const end = given.indexOf('__');
  if (end > 0 && servers.includes(given.slice(0, end))) return `${given.slice(0, end)}/${given.slice(end + 2)}`;
  return only === null || reserved.has(given) || given.includes('/') ? given : `${only}/${given}`;
}

/** The names of a workflow's actions, each served as a tool. */
export function actionNames(actions: Iterable<string>): ModelNames {
  const owns = new Set(actions);
  const byName = new Map([...owns].map((own) => [bareName(own, own), own]));
  return {
    write: (own) => (owns.has(own) ? bareName(own, own) : own),
    read: (given) => byName.get(given) ?? given,
  };
}

/** The names of a workflow that is served beside others, prefixed as if it were a server. */
export function besideNames(workflow: string, tools: Iterable<string>): ModelNames {
  const owns = [...tools];
  const byName = new Map(
    owns.flatMap((own) => [`${workflow}/${own}`, modelName(`${workflow}/${own}`)].map((name) => [name, own])),
  );
  return { write: (own) => modelName(`${workflow}/${own}`), read: (given) => byName.get(given) ?? given };
}

/** Names unchanged, for step mode. */
export const sameNames: ModelNames = { write: (own) => own, read: (given) => given };
