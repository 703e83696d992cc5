/**
 * The order service of the demo, over HTTP on this machine. It keeps everything in memory and remembers idempotency
 * keys. On demand it fails before it has done anything.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orders } from './orders.ts';

export interface Shop {
  readonly url: string;
  /** The next `times` requests to this path are answered with 503. */
  failNext(pathname: string, times: number): void;
  stop(): Promise<void>;
}

const maxBodyBytes = 16 << 10;
/** The oldest answer is forgotten first. */
const maxKeys = 10_000;

type Fields = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly body: Fields;
}

export async function serveShop(): Promise<Shop> {
  const failures = new Map<string, number>();
  const work = createWork();
  const server = createServer((request, response) => {
    void answer(request, failures, work).then(
      (answered) => write(response, answered),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    failNext: (pathname, times) => void failures.set(pathname, times),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, failures: Map<string, number>, work: Work): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'http://shop');
  const sent = await readBody(request);
  const left = failures.get(pathname) ?? 0;
  if (left > 0) {
    failures.set(pathname, left - 1);
    return problem(503, 'the shop is busy');
  }
  const key = request.headers['idempotency-key'];
  return work(`${request.method} ${pathname}`, sent, typeof key === 'string' ? key : null);
}

async function readBody(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new RangeError('the body is too long');
    chunks.push(chunk);
  }
  const parsed: unknown = bytes === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
}

function write(response: ServerResponse, { status, body }: Answer): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}

const problem = (status: number, detail: string): Answer => ({ status, body: { status, detail } });
const done = (body: Fields): Answer => ({ status: 200, body });

const statuses = { pick: 'picked', pack: 'packed', ship: 'shipped', cancel: 'cancelled' } as const;

type Work = (route: string, sent: Fields, key: string | null) => Answer;

/** A repeated key gets the answer of its first request. */
function createWork(): Work {
  const answered = new Map<string, Answer>();
  const status = new Map<string, string>();
  let count = 0;
  const carryOut = (route: string, sent: Fields): Answer => {
    if (route === 'POST /mails') return done({ mail: `mail_${++count}`, ...sent });
    if (route === 'POST /vouchers') return done({ voucher: `TEA-${1_000 + ++count}`, ...sent });
    const [, verb, id, act] = /^(GET|POST) \/orders\/(\w+)(?:\/(pick|pack|ship|cancel))?$/.exec(route) ?? [];
    const order = orders.find((each) => each.order === id);
    if (order === undefined) return problem(404, 'there is no such order');
    if (verb === 'GET') return done({ ...order, status: status.get(order.order) ?? 'paid' });
    if (act === undefined) return problem(405, 'orders are only read here');
    const now = statuses[act as keyof typeof statuses];
    status.set(order.order, now);
    return done({
      order: order.order,
      status: now,
      ...(act === 'ship' ? { tracking: `DHL-${70_300 + ++count}` } : {}),
    });
  };
  return (route, sent, key) => {
    const known = key === null ? undefined : answered.get(key);
    if (known !== undefined) return known;
    const made = carryOut(route, sent);
    if (key !== null && made.status === 200) {
      answered.set(key, made);
      const [oldest] = answered.keys();
      if (answered.size > maxKeys && oldest !== undefined) answered.delete(oldest);
    }
    return made;
  };
}
