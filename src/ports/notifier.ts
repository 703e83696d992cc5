/** Notices for the operator. A notifier never throws and never waits. */
import type { ErrorCode } from '../core/taxonomy.ts';
import type { SuppressedNotice } from '../core/values/suppressed.ts';

export type OperatorNotice =
  | { readonly kind: 'store_unavailable'; readonly fault: string; readonly message: string }
  | { readonly kind: 'store_recovered' }
  | { readonly kind: 'unexpected'; readonly correlationId: string; readonly message: string; readonly cause: string }
  | { readonly kind: 'recovered'; readonly calls: number; readonly inDoubt: number }
  /** The stored reply of a call was changed in the file: it is not given to anybody. */
  | { readonly kind: 'reply_altered'; readonly callId: string; readonly message: string }
  | { readonly kind: 'clock_held'; readonly behindMs: number }
  /** One of these bodies blocks a thread: that of its module, which may have been ended, or the gateway's own. */
  | {
      readonly kind: 'body_blocks';
      readonly tools: readonly string[];
      readonly forMs: number;
      readonly thread: 'module' | 'gateway';
      readonly ended: boolean;
    }
  /** The result of a tool contained a live key of this gateway; it was masked. */
  | {
      readonly kind: 'key_masked';
      readonly callId: string;
      readonly agent: string;
      readonly tool: string;
      /** Of keys that work, at most twenty. */
      readonly keyIds: readonly string[];
      readonly more: number;
    }
  /** The store was moved, or is in another place than before. */
  | { readonly kind: 'store_place'; readonly message: string }
  /** The process of a server wanted to reach a host that its egress list does not allow; told once for each host. */
  | { readonly kind: 'egress_denied'; readonly server: string; readonly host: string }
  /** The circuit breaker of an upstream changed its state. */
  | { readonly kind: 'breaker'; readonly upstream: string; readonly state: 'closed' | 'open' | 'half_open' }
  /** An extension did not start or stop. */
  | {
      readonly kind: 'extension_failed';
      readonly extension: string;
      readonly step: 'start' | 'stop';
      readonly code: ErrorCode;
      readonly message: string;
    }
  /** An error ignored on purpose, with the reason. */
  | SuppressedNotice;

export type Notifier = (notice: OperatorNotice) => void;
