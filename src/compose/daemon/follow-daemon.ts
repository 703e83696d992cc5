/**
 * Follows an event stream of a running gateway until it ends, is lost or is silent for too long. Does not reconnect:
 * the caller decides that. The key goes into one header and nowhere else.
 */
import { wasNeverSent } from '../../client/transport/http-failure.ts';
import { isObject } from '../../core/values/json.ts';
import type { FollowEnd, FollowOrder } from '../../doors/cli/daemon.ts';
import { readEvents } from '../../doors/cli/read-events.ts';

/** The gateway sends a heartbeat every 15 s. */
const longestSilenceMs = 60_000;
const maxRefusalBytes = 1 << 20;

export async function followDaemon(
  url: string,
  { path, after, onOpen, onEvent, signal }: FollowOrder,
  authorization: Readonly<Record<string, string>>,
): Promise<FollowEnd> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), longestSilenceMs);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), longestSilenceMs);
  };
  try {
    const response = await fetch(`${url}${path}`, {
      // A redirect would carry the key to somebody else.
      redirect: 'manual',
      signal: AbortSignal.any([signal, silence.signal]),
      headers: {
        accept: 'text/event-stream, application/json',
        connection: 'close',
        ...(after === null ? {} : { 'last-event-id': after }),
        ...authorization,
      },
    });
    if (response.status !== 200 || !isEventStream(response)) return await refusalIn(response);
    onOpen();
    const reading = readEvents();
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      heard();
      const events = reading.take(decoder.decode(chunk as Uint8Array, { stream: true }));
      if (events === null) return { kind: 'stranger', status: response.status };
      for (const event of events) onEvent(event);
    }
    return { kind: 'ended' };
  } catch (error) {
    if (signal.aborted) return { kind: 'ended' };
    if (wasNeverSent(error)) return { kind: 'nobody' };
    const reason = silence.signal.aborted
      ? `it was silent for ${longestSilenceMs / 1_000} s`
      : 'the connection was lost';
    return { kind: 'lost', reason };
  } finally {
    clearTimeout(timer);
  }
}

const isEventStream = ({ headers }: Response): boolean =>
  (headers.get('content-type') ?? '').split(';')[0] === 'text/event-stream';

async function refusalIn(response: Response): Promise<FollowEnd> {
  const { status } = response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxRefusalBytes) return { kind: 'stranger', status };
    chunks.push(chunk as Uint8Array);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isObject(body) ? { kind: 'answered', status, body } : { kind: 'stranger', status };
  } catch {
    return { kind: 'stranger', status };
  }
}
