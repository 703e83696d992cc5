/** What names of hosts resolve to. It may never answer: whoever asks limits the wait. */
export interface Resolver {
  /** Never rejects. `host` is a name, not an address. */
  resolve(host: string): Promise<Resolved>;
}

export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  /** `code`: of the system, such as ENOTFOUND. */
  | { readonly ok: false; readonly code: string };
