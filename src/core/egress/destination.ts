/**
 * Reads hosts and URLs as every fetch does: by the WHATWG URL parser, which knows decimal, octal and hexadecimal IPv4,
 * upper case and international names. So what is judged is what would be connected to. Pure.
 */
import { parseAddress } from './address.ts';

/** Part of the language of every runtime we know, pure and synchronous; only not of TypeScript's ES library. */
declare const URL: {
  parse(text: string): {
    readonly protocol: string;
    readonly hostname: string;
    readonly port: string;
    readonly username: string;
    readonly password: string;
  } | null;
};

/** Where a connection would go. `host`: a name in lower case without a last dot, or an address without brackets. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

const portOf: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 };

const maxUrlChars = 8_192;

/** Null if it is no http or https address. */
export function destinationOf(url: string): Destination | null {
  const parsed = url.length > maxUrlChars ? null : URL.parse(url);
  const usual = parsed === null || !/^https?:$/.test(parsed.protocol) ? undefined : portOf[parsed.protocol];
  if (parsed === null || usual === undefined) return null;
  const host = plainHost(parsed.hostname);
  return host === '' ? null : { host, port: parsed.port === '' ? usual : Number(parsed.port) };
}

/**
 * The same for a URL that somebody else will fetch. Null also if another parser could read another host in it: a login,
 * a backslash, white space or control characters, or a host with signs at which others may end it, such as a semicolon.
 */
export function plainDestinationOf(url: string): Destination | null {
  if (/[\\\s\p{C}]/u.test(url) || !/^https?:\/\/[^/]/i.test(url)) return null;
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return /[^\p{L}\p{M}\p{N}._:[\]-]/u.test(authority) ? null : destinationOf(url);
}

/** A bare host, as it would be in a URL. Null if it is none. */
export function readHost(text: string): string | null {
  if (text === '' || /[\s\\/?#@%\p{C}]/u.test(text)) return null;
  const isBare = text.includes(':') && !text.startsWith('[');
  if (isBare && parseAddress(text) === null) return null;
  if (!isBare && /^[^[]*:/.test(text)) return null;
  const parsed = URL.parse(`http://${isBare ? `[${text}]` : text}/`);
  const host = parsed === null ? '' : plainHost(parsed.hostname);
  return host === '' ? null : host;
}

const plainHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
