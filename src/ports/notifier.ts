/** What an operator must hear although no caller asks. Never throws, never waits. */
export type OperatorNotice =
  | { readonly kind: 'store_unavailable'; readonly fault: string; readonly message: string }
  | { readonly kind: 'store_recovered' }
  | { readonly kind: 'unexpected'; readonly correlationId: string; readonly message: string; readonly cause: string }
  | { readonly kind: 'recovered'; readonly calls: number; readonly inDoubt: number }
  | { readonly kind: 'clock_held'; readonly behindMs: number }
  /** An error ignored on purpose, with the reason. */
  | { readonly kind: 'suppressed'; readonly what: string; readonly reason: string };

export type Notifier = (notice: OperatorNotice) => void;
