/** What the gateway offers to an extension. Types only. */
import type { EgressList } from '../core/egress/egress-list.ts';
import type { JsonObject } from '../core/values/json.ts';
import type { Fail } from './failure.ts';

export interface Host {
  /** Of the extension itself, from `extensions` in recourse.yaml. Secrets in it came as `${NAME}`. */
  readonly settings: JsonObject;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
  /** Wall time; a test may have its own. */
  nowMs(): number;
  /** What an extension in `needs` returned from its start; undefined if that was nothing. */
  of(extension: string): unknown;
  /** Throws an error that keeps its class and code, wherever the extension was called. */
  readonly fail: Fail;
  /** Records an error that is ignored on purpose, with the reason. Never throws. */
  suppressed(reason: string, error?: unknown): void;
  readonly http: HostHttp;
}

export interface HostHttp {
  /** One request and its whole answer. Follows no redirect. Never rejects; aborting the signal ends it. */
  request(request: HostRequest, signal: AbortSignal): Promise<HostAnswer>;
}

export interface HostRequest {
  readonly method: string;
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** 30 s if not given. */
  readonly timeoutMs?: number;
  /** Of the answer's body; 4 MiB if not given. */
  readonly maxBytes?: number;
  /**
   * That of the attempt for which it is sent: the connection then holds to it, and null means any public address.
   * Absent: it goes where the settings say, for nobody in particular.
   */
  readonly egress?: EgressList | null | undefined;
}

export type HostAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | {
      readonly ok: false;
      readonly why: 'denied' | 'unreachable' | 'timeout' | 'stopped' | 'too_long' | 'broken';
      /** False: it is proven that no byte of the request was sent. */
      readonly sent: boolean;
      /** In our own words: no address, no secret. */
      readonly reason: string;
    };
