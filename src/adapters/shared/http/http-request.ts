/** An HTTP request that is ready to be sent. */
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
