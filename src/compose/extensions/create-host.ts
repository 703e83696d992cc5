/** Makes what the gateway offers to one extension. Nothing of it throws, but `fail`. */
import type { HttpAsker } from '../../adapters/shared/ask-http.ts';
import { extensionLimits as limits } from '../../core/extension/extension-limits.ts';
import { ExtensionFailure } from '../../extension/failure.ts';
import type { Host, HostAnswer, HostHttp, HostRequest } from '../../extension/host.ts';
import type { LoadedExtension } from './extension-set.ts';

export interface HostParts {
  readonly nowMs: () => number;
  /** Loaded with the first request. */
  readonly http: () => Promise<HttpAsker>;
  /** What extensions returned from their start. */
  readonly exported: ReadonlyMap<string, unknown>;
  readonly suppressed: (extension: string, reason: string, error: unknown) => void;
}

export function createHost({ name, needs, settings }: LoadedExtension, signal: AbortSignal, parts: HostParts): Host {
  return {
    settings,
    signal,
    nowMs: () => parts.nowMs(),
    of: (extension) => {
      if (!needs.includes(extension))
        throw new ExtensionFailure(
          'ExtensionHost',
          'DependencyMissing',
          `the extension '${name}' asks for '${String(extension)}', which is not in its needs`,
        );
      return parts.exported.get(extension);
    },
    fail: (errorClass, code, message, cause) => {
      throw new ExtensionFailure(errorClass, code, message, cause);
    },
    suppressed: (reason, error) => parts.suppressed(name, reason, error),
    http: createHostHttp(parts.http),
  };
}

export function createHostHttp(http: HostParts['http']): HostHttp {
  return { request: async (request, signal) => ask(await http(), request, signal) };
}

async function ask(asker: HttpAsker, request: HostRequest, signal: AbortSignal): Promise<HostAnswer> {
  const { method, headers = {}, body = null, egress } = request;
  const url = URL.parse(String(request.url));
  if (url === null || !/^https?:$/.test(url.protocol))
    return { ok: false, why: 'unreachable', sent: false, reason: 'this is no address of HTTP' };
  const timeoutMs = Math.min(request.timeoutMs ?? limits.requestTimeoutMs, limits.maxTimeoutMs);
  const maxBytes = request.maxBytes ?? limits.maxAnswerBytes;
  const late = AbortSignal.timeout(timeoutMs);
  const order = { method, url, headers, body, maxBytes, egress };
  const answer = await asker.ask(order, AbortSignal.any([signal, late]));
  return !answer.ok && answer.why === 'stopped' && late.aborted && !signal.aborted
    ? { ...answer, why: 'timeout' }
    : answer;
}
