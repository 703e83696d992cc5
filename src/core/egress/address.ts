/**
 * Parses IP addresses and ranges, and says which addresses are public. An IPv4 address and its IPv4-mapped form are the
 * same address. What cannot be parsed is no address, and never public. Pure.
 */

/** 128 bits; IPv4 as ::ffff:a.b.c.d. */
export type Address = bigint;

export interface Range {
  readonly base: Address;
  /** Bits that count, of 128. */
  readonly bits: number;
}

export type AddressClass =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link_local'
  | 'metadata'
  | 'shared'
  | 'multicast'
  | 'unspecified'
  | 'reserved';

const mappedPrefix = 0xffffn << 32n;
const wholeAddress = 128;
const ipv4Bits = 32;

export function parseAddress(text: string): Address | null {
  const [plain = ''] = text.replace(/^\[(.*)\]$/, '$1').split('%', 1);
  return plain.includes(':') ? parseIpv6(plain) : parseIpv4(plain);
}

/** Only the canonical notation: four decimal numbers. Other notations are read by `readHost`. */
function parseIpv4(text: string): Address | null {
  const bytes = parseBytes(text);
  return bytes === null ? null : mappedPrefix | bytes;
}

function parseBytes(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return null;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

/** `::ffff:1.2.3.4` with the last two groups in place of the dots; null if those are no bytes. */
function withoutDots(text: string): string | null {
  const dotted = /^(.*:)([\d.]+\.[\d.]+)$/.exec(text);
  if (dotted === null) return text;
  const tail = parseBytes(dotted[2] ?? '');
  return tail === null ? null : `${dotted[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
}

function parseIpv6(text: string): Address | null {
  const groups = withoutDots(text);
  const halves = groups?.split('::') ?? [];
  if (halves.length === 0 || halves.length > 2) return null;
  const [head, rest] = halves.map((half) => (half === '' ? [] : half.split(':')));
  if (head === undefined || ![...head, ...(rest ?? [])].every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  const gap = 8 - head.length - (rest?.length ?? 0);
  if (rest === undefined ? gap !== 0 : gap < 1) return null;
  const all = [...head, ...Array.from({ length: Math.max(gap, 0) }, () => '0'), ...(rest ?? [])];
  return all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. Null if it is no range, or has bits beyond its length. */
export function parseRange(text: string): Range | null {
  const [address = '', length, ...more] = text.split('/');
  const base = parseAddress(address);
  if (base === null || more.length > 0 || address.includes('%')) return null;
  if (length === undefined) return { base, bits: wholeAddress };
  const most = address.includes(':') ? wholeAddress : ipv4Bits;
  if (!/^\d{1,3}$/.test(length) || Number(length) > most) return null;
  const bits = wholeAddress - most + Number(length);
  return base === networkOf(base, bits) ? { base, bits } : null;
}

const networkOf = (address: Address, bits: number): Address => {
  const rest = BigInt(wholeAddress - bits);
  return (address >> rest) << rest;
};

export const isInRange = ({ base, bits }: Range, address: Address): boolean => networkOf(address, bits) === base;

export const isOneAddress = ({ bits }: Range): boolean => bits === wholeAddress;

function ranges(...texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => parseRange(text) ?? []);
}

/** Where clouds hand out credentials of the machine. Some lie in public or shared ranges. */
const metadata = ranges(
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.0.23',
  '169.254.42.42',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
);

/** The first that contains an address counts. From the IANA registries of special-purpose addresses. */
const classes: readonly (readonly [AddressClass, readonly Range[]])[] = [
  ['metadata', metadata],
  ['unspecified', ranges('0.0.0.0/8', '::/128')],
  ['loopback', ranges('127.0.0.0/8', '::1/128')],
  ['private', ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10')],
  ['link_local', ranges('169.254.0.0/16', 'fe80::/10')],
  ['shared', ranges('100.64.0.0/10')],
  ['multicast', ranges('224.0.0.0/4', 'ff00::/8')],
  [
    'reserved',
    ranges(
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
      // Protocol assignments, Teredo, documentation and 6to4: the last three carry another address inside.
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '3fff::/20',
    ),
  ],
];

const [allIpv4, globalIpv6, translated] = ranges('::ffff:0:0/96', '2000::/3', '64:ff9b::/96') as [Range, Range, Range];

export function classOf(address: Address): AddressClass {
  // NAT64 carries an IPv4 address, and that is where the packet goes.
  if (isInRange(translated, address)) return classOf(mappedPrefix | (address & 0xffff_ffffn));
  const found = classes.find(([, all]) => all.some((range) => isInRange(range, address)));
  if (found !== undefined) return found[0];
  // INVARIANT: an IPv6 address outside the global unicast range is not public, whatever it is.
  return isInRange(allIpv4, address) || isInRange(globalIpv6, address) ? 'public' : 'reserved';
}
