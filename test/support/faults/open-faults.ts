/** The faulty upstream for tests: started in this process, with a client that tells every way an answer can fail. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type FaultsOptions, startFaults } from '../../../src/faults/start-faults.ts';
import { objectsIn } from '../recourse-process.ts';

export interface Answered {
  /** 0 if there was no whole answer; then `text` is what came of it, and `cut` the error. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly cut: string | null;
  readonly body: () => Record<string, unknown>;
}

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** One request on a connection of its own. Never rejects. */
export function ask(url: string, { method, body, headers = {}, signal }: Sent = {}): Promise<Answered> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const told = (status: number, cut: string | null, got: Answered['headers'] = {}) => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status, headers: got, text, cut, body: () => JSON.parse(text) as Record<string, unknown> });
    };
    const options = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, agent: false as const };
    const sent = request(url, signal === undefined ? options : { ...options, signal }, (response) => {
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error: NodeJS.ErrnoException) => told(0, error.code ?? error.message));
      response.on('end', () => told(response.statusCode ?? 0, null, response.headers));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => told(0, error.code ?? error.message));
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

export async function openFaults(t: TestContext, options: Partial<FaultsOptions> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-faults-'));
  const ledger = options.ledger ?? path.join(folder, 'ledger.jsonl');
  const started = await startFaults({ port: 0, ledger, ...options });
  assert.ok(started.kind === 'started', JSON.stringify(started));
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await started.stop();
    isStopped = true;
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const base = started.url.slice(0, -1);
  return {
    ...started,
    ledger,
    stop,
    ask: (place: string, sent: Sent = {}) => ask(`${base}${place}`, sent),
    refund: (args: object = { order: 'o1', amount: 5 }, key?: string, signal?: AbortSignal) =>
      ask(`${base}/refunds`, {
        body: args,
        headers: key === undefined ? {} : { 'idempotency-key': key },
        ...(signal === undefined ? {} : { signal }),
      }),
    async fault(rule: unknown) {
      const set = await ask(`${base}/faults`, { body: rule });
      assert.equal(set.status, 200, set.text);
    },
    entries: () => {
      const text = readFileSync(ledger, 'utf8');
      return text === '' ? [] : objectsIn(text);
    },
    /** Effects by the file, so that they can be read also while nobody listens. */
    effects: () => (readFileSync(ledger, 'utf8').match(/"kind":"effect"/g) ?? []).length,
  };
}
