/** What the gateway offers to an extension, for tests: it records what is suppressed, and sends for real. */
import { ExtensionFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { testHttp } from './test-http.ts';

export interface HostForTests extends Host {
  /** The reasons of what was suppressed. */
  readonly reasons: readonly string[];
  /** Aborts the signal, as when the gateway stops. */
  stop(): void;
}

export function aHost(over: Partial<Host> = {}): HostForTests {
  const reasons: string[] = [];
  const stopping = new AbortController();
  return {
    settings: {},
    signal: stopping.signal,
    nowMs: () => Date.now(),
    of: () => undefined,
    fail: (errorClass, code, message, cause) => {
      throw new ExtensionFailure(errorClass, code, message, cause);
    },
    suppressed: (reason) => void reasons.push(reason),
    http: testHttp,
    ...over,
    reasons,
    stop: () => stopping.abort(),
  };
}
