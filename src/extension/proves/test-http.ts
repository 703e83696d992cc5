/**
 * An HTTP client for tests, which does as that of the gateway: one request, its whole answer within limits, or why
 * there is none. Has no egress rules.
 */
import http from 'node:http';
import https from 'node:https';
import type { HostAnswer, HostHttp, HostRequest } from '../host.ts';

const usualMaxBytes = 4 << 20;
const usualTimeoutMs = 30_000;

export const testHttp: HostHttp = { request: ask };

function ask(request: HostRequest, signal: AbortSignal): Promise<HostAnswer> {
  const { method, headers = {}, body = '', maxBytes = usualMaxBytes, timeoutMs = usualTimeoutMs } = request;
  const url = new URL(request.url);
  const late = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve) => {
    let sent = false;
    const end = (why: Extract<HostAnswer, { ok: false }>['why'], reason: string) =>
      resolve({ ok: false, why, sent, reason });
    const both = AbortSignal.any([signal, late]);
    if (both.aborted) return end('stopped', 'no answer in time');
    const { request: send } = url.protocol === 'https:' ? https : http;
    // A connection of its own: what was sent is known for certain.
    const asking = send(url, { method, headers: { ...headers }, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      let size = 0;
      answer.on('data', (piece: Buffer) => {
        pieces.push(piece);
        size += piece.length;
        if (size <= maxBytes) return;
        end('too_long', 'an answer that is too long');
        asking.destroy();
      });
      answer.on('error', () => end('unreachable', 'connection closed'));
      answer.on('end', () => {
        const flat = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
        const text = Buffer.concat(pieces).toString('utf8');
        resolve({ ok: true, status: answer.statusCode ?? 0, headers: Object.fromEntries(flat), body: text });
      });
    });
    asking.on('socket', (socket) => void socket.once('connect', () => void (sent = true)));
    asking.on('error', () => end('unreachable', sent ? 'connection closed' : 'connection refused'));
    both.addEventListener('abort', () => {
      end(late.aborted && !signal.aborted ? 'timeout' : 'stopped', 'no answer in time');
      asking.destroy();
    });
    asking.end(body);
  });
}
