/** An HTTP request that is ready to be sent, and what every one of them has in common. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | null;
  /** Whether the idempotency key is in it. */
  readonly hasKey: boolean;
  /** Names of headers that hold a secret of a credential; absent: none does. */
  readonly secretHeaders?: ReadonlySet<string>;
  /** The same for parameters of the query. */
  readonly secretParameters?: ReadonlySet<string>;
}

/** Headers about the framing of a message or about the connection are the client's. */
export const reservedHeaders: readonly string[] = [
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The header `authorization` for a login that is written in an address; null if there is none. */
export function loginIn(url: string): string | null {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return null;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(login).toString('base64')}`;
}
