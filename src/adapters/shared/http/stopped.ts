/** How an attempt over HTTP ended that was stopped: cancelled or out of time, and what its having been sent proves. */
import { isTimeout, makeFailure, type UpstreamResult } from '../../../ports/upstream.ts';

export function stopped({ reason }: AbortSignal, sent: boolean, name: string): UpstreamResult {
  const effect = sent ? null : 'none';
  if (!isTimeout(reason)) {
    const message = sent ? 'stopped: its connection was closed' : 'stopped before it was sent';
    return { kind: 'failed', failure: makeFailure('cancelled', message, { errorType: 'AbortError', effect }) };
  }
  const more = { errorType: 'TimeoutError', effect } as const;
  const message = `'${name}' did not answer in time`;
  return { kind: 'failed', failure: makeFailure(sent ? 'timeout' : 'never_sent', message, more) };
}
