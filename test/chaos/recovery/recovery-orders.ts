/** What the processes of the chaos with retries are told, and what their gateways are set to. */

export interface Payment {
  readonly tool: string;
  readonly args: { readonly order: string };
  /** The same as its order. */
  readonly key: string;
  readonly deadline_seconds?: number;
}

export interface Orders {
  readonly file: string;
  /** Of the payment service. */
  readonly url: string;
  readonly seed: number;
  readonly name: string;
  /** Payments that nobody was told the end of. */
  readonly open: readonly Payment[];
  /** Makes no payments of its own. */
  readonly isIdle?: boolean;
}

/** Everything that comes by itself comes soon. */
export const limits = { sweepEveryMs: 50, firstProbeMs: 200, maxProbePauseMs: 2_000 };
