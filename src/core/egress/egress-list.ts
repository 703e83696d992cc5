/**
 * An egress allow list: which hosts may be reached, by name, and which addresses that are not public. A name never
 * opens a private address; only an address or a range does. Compiled once, then only asked. Pure.
 */
import { type Address, classOf, isInRange, isOneAddress, parseAddress, parseRange, type Range } from './address.ts';
import { type Destination, readHost } from './destination.ts';

interface NameRule {
  /** `example.com`; for `*.example.com` what follows the star, with its dot. */
  readonly name: string;
  readonly isSuffix: boolean;
  /** Null for any. */
  readonly port: number | null;
}

interface RangeRule {
  readonly range: Range;
  readonly port: number | null;
}

export interface EgressList {
  /** Lists with the same text decide the same. */
  readonly text: string;
  /** Null: any name. */
  readonly names: readonly NameRule[] | null;
  readonly ranges: readonly RangeRule[];
  /** Addresses that are named elsewhere: they may be private, but are no hosts of this list. */
  readonly opened: readonly RangeRule[];
}

/** No list: any name, and no private address. */
export const anyPublicHost: EgressList = { text: '*', names: null, ranges: [], opened: [] };

export type ReadEntry =
  | { readonly ok: true; readonly entry: NameRule | RangeRule }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const portPattern = /^(.*?)(?::(\d{1,5}))?$/s;
const examples =
  'write a host such as api.example.com or *.example.com:8443, an address, or a range such as 10.0.0.0/8';

/** One entry of an allow list: a name, `*.` and a name, an address or a range, with a port if wanted. */
export function readEntry(text: string): ReadEntry {
  const { host, port } = splitPort(text);
  if (port !== null && (port < 1 || port > 65_535)) return refused(`'${text}' has no usable port`, 'use 1 to 65535');
  const range = parseRange(host);
  if (range !== null) return { ok: true, entry: { range, port } };
  if (host.includes('/'))
    return refused(`'${text}' is no range of addresses`, 'write its first address, such as 10.0.0.0/8');
  const isSuffix = host.startsWith('*.');
  const name = readHost(isSuffix ? host.slice(2) : host);
  if (name === null || name.includes('*')) return refused(`'${text}' is no host`, examples);
  if (parseAddress(name) !== null) return refused(`'${text}' is another notation of an address`, `write ${name}`);
  return { ok: true, entry: { name: isSuffix ? `.${name}` : name, isSuffix, port } };
}

const refused = (message: string, fix: string): ReadEntry => ({ ok: false, message, fix });

/** `[::1]:80` and `10.0.0.0/8:443` have ports; `::1` and `fd00::/8` have none. */
function splitPort(text: string): { readonly host: string; readonly port: number | null } {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text);
  if (bracketed !== null) return { host: bracketed[1] ?? '', port: portIn(bracketed[2]) };
  if ((text.match(/:/g) ?? []).length > 1) return { host: text, port: null };
  const [, host = '', port] = portPattern.exec(text) ?? [];
  return { host, port: portIn(port) };
}

const portIn = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

/** Entries that cannot be read are left out: they were reported, and the absence of an entry is a no. */
export function compileList(allow: readonly string[]): EgressList {
  const entries = allow.map(readEntry).flatMap((read) => (read.ok ? [read.entry] : []));
  return {
    text: JSON.stringify([...new Set(allow)].sort()),
    names: entries.filter((entry) => 'name' in entry),
    ranges: entries.filter((entry) => 'range' in entry),
    opened: [],
  };
}

/** Whether the host may be reached, whatever its addresses are. An address as a host must be listed as one. */
export function permitsName({ names, ranges }: EgressList, { host, port }: Destination): boolean {
  if (names === null) return true;
  const address = parseAddress(host);
  if (address !== null) return covers(ranges, address, port);
  return names.some(
    (rule) => isPort(rule.port, port) && (rule.isSuffix ? host.endsWith(rule.name) : host === rule.name),
  );
}

/** Whether a connection may go to this address. INVARIANT: what is not public must be named, by an address or a range. */
export function permitsAddress({ ranges, opened }: EgressList, address: string, port: number): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return classOf(parsed) === 'public' || covers(ranges, parsed, port) || covers(opened, parsed, port);
}

/** A host without an address is not permitted. */
export const permitsAddresses = (list: EgressList, addresses: readonly string[], port: number): boolean =>
  addresses.length > 0 && addresses.every((address) => permitsAddress(list, address, port));

/** A range that happens to contain a metadata address does not open it. */
function covers(rules: readonly RangeRule[], address: Address, port: number): boolean {
  const isMetadata = classOf(address) === 'metadata';
  return rules.some(
    ({ range, port: only }) => isPort(only, port) && isInRange(range, address) && (!isMetadata || isOneAddress(range)),
  );
}

const isPort = (only: number | null, port: number): boolean => only === null || only === port;

/** The address that an operator wrote as the URL of an upstream is named for that upstream, with its port. */
export function openingFor(list: EgressList | null, { host, port }: Destination): EgressList {
  const base = list ?? anyPublicHost;
  const own = (host === 'localhost' ? ['127.0.0.1', '::1'] : [host]).flatMap((text) => parseRange(text) ?? []);
  if (own.length === 0) return base;
  const opened = [...base.opened, ...own.map((range) => ({ range, port }))];
  return { ...base, opened, text: `${base.text} ${host}:${port}` };
}

/** Only this host, by name. */
export function onlyHost(destination: Destination): EgressList {
  const { host, port } = destination;
  const range = parseRange(host);
  const names = range === null ? [{ name: host, isSuffix: false, port }] : [];
  const ranges = range === null ? [] : [{ range, port }];
  return openingFor({ text: `${host}:${port}`, names, ranges, opened: [] }, destination);
}

/** The same without its names: what audit mode does not soften. */
export const withoutNames = (list: EgressList): EgressList => ({ ...list, names: null, text: `* ${list.text}` });
