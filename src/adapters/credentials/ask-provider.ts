/** Asks a provider over HTTP: its JSON answer up to a limit, or why there is none. Never rejects. */
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { createHttpAsker } from '../shared/ask-http.ts';

export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type ProviderAnswer =
  /** `body`: empty if it is no JSON object. */
  | { readonly ok: true; readonly status: number; readonly body: JsonObject; readonly retryAfterMs: number | null }
  | { readonly ok: false; readonly reason: string };

export interface ProviderClient {
  ask(request: ProviderRequest, signal: AbortSignal): Promise<ProviderAnswer>;
  close(): void;
}

const maxAnswerBytes = 256 << 10;
const maxRetryAfterMs = 3_600_000;

export function createProviderClient(): ProviderClient {
  const asker = createHttpAsker();
  return {
    async ask({ headers, body = null, ...request }, signal) {
      const sent = { accept: 'application/json', 'user-agent': 'recourse', ...headers };
      const answer = await asker.ask({ ...request, headers: sent, body, maxBytes: maxAnswerBytes }, signal);
      if (!answer.ok) return { ok: false, reason: answer.reason };
      const { status } = answer;
      return {
        ok: true,
        status,
        body: objectIn(answer.body),
        retryAfterMs: retryAfterIn(answer.headers['retry-after']),
      };
    },
    close: () => asker.close(),
  };
}

const retryAfterIn = (header: string | undefined): number | null =>
  header !== undefined && /^\d{1,9}$/.test(header) ? Math.min(Number(header) * 1_000, maxRetryAfterMs) : null;

function objectIn(text: string): JsonObject {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? (read as JsonObject) : {};
  } catch {
    return {};
  }
}
