/**
 * A forward proxy on loopback for the children that we start: CONNECT, and requests with a whole address. Each child
 * has a name and a password of its own, and with them its own egress list. Connections are opened as our own are:
 * resolved, checked, connected to a checked address. Never throws to a child.
 */
import crypto from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Destination, destinationOf, readHost } from '../../core/egress/destination.ts';
import type { EgressList } from '../../core/egress/egress-list.ts';
import type { Resolver } from '../../ports/resolver.ts';
import { connectGuarded, denialIn } from '../shared/egress-connector.ts';
import { defaultProxyLimits, type ProxyLimits } from './proxy-limits.ts';

export interface EgressProxy {
  /** A login for this server. The address holds it: `http://name:password@127.0.0.1:port`. */
  admit(server: string, list: EgressList): ProxyLogin;
  close(): Promise<void>;
}

export interface ProxyLogin {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface ProxyParts {
  readonly resolver: Resolver;
  readonly limits?: Partial<ProxyLimits>;
  /** A child wanted to reach a host that its list does not allow. Nothing was sent there. */
  readonly onDenied: (server: string, host: string) => void;
  /** A path of a unix socket on which the proxy listens too, for children without a network. */
  readonly socketPath?: string;
}

interface Known {
  readonly server: string;
  readonly list: EgressList;
  readonly password: Buffer;
  /** Connections to hosts that are open for it. */
  open: number;
}

export async function startProxy(parts: ProxyParts): Promise<EgressProxy> {
  const proxy = new ForwardProxy(parts);
  const port = await proxy.listen(parts.socketPath ?? null);
  return {
    admit(server, list) {
      const user = crypto.randomBytes(8).toString('hex');
      const password = crypto.randomBytes(24).toString('hex');
      proxy.known.set(user, { server, list, password: Buffer.from(password), open: 0 });
      return { url: `http://${user}:${password}@127.0.0.1:${port}`, user, password };
    },
    close: () => proxy.close(),
  };
}

class ForwardProxy {
  readonly known = new Map<string, Known>();
  readonly #parts: ProxyParts;
  readonly #limits: ProxyLimits;
  readonly #open = new Set<Duplex>();
  readonly #servers: http.Server[] = [];

  constructor(parts: ProxyParts) {
    this.#parts = parts;
    this.#limits = { ...defaultProxyLimits, ...parts.limits };
  }

  /** The port on loopback. */
  async listen(socketPath: string | null): Promise<number> {
    const server = this.#createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    if (socketPath !== null) {
      const local = this.#createServer();
      local.listen(socketPath);
      await once(local, 'listening');
    }
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #createServer(): http.Server {
    const { maxHeaderBytes, headTimeoutMs, idleMs, maxConnections } = this.#limits;
    const server = http.createServer({
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headTimeoutMs,
      requestTimeout: idleMs,
      connectionsCheckingInterval: 1_000,
    });
    server.maxConnections = maxConnections;
    server.on('connection', (socket: Socket) => this.#keep(socket));
    server.on('connect', (request, socket, head) => void this.#tunnel(request, socket, head));
    server.on('request', (request, response) => void this.#forward(request, response));
    // A child that speaks no HTTP, or asks to leave it, is answered and closed.
    server.on('upgrade', (_, socket) => refuse(socket, 501));
    server.on('clientError', (_, socket) => refuse(socket, 400));
    this.#servers.push(server);
    return server;
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.setTimeout(this.#limits.idleMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
  }

  /** The connection, or the status with which the child is refused. */
  async #reach(by: Known, to: Destination): Promise<Socket | number> {
    const { resolver, onDenied } = this.#parts;
    // One child leaves room for the others.
    if (by.open >= this.#limits.maxConnectionsEach) return 503;
    by.open += 1;
    try {
      const guard = { list: by.list, resolver, timeoutMs: this.#limits.connectTimeoutMs };
      const socket = await connectGuarded(to, guard);
      this.#keep(socket);
      socket.once('close', () => void (by.open -= 1));
      return socket;
    } catch (error) {
      by.open -= 1;
      const denied = denialIn(error);
      if (denied === null) return 502;
      onDenied(by.server, denied.host);
      return 403;
    }
  }

  async #tunnel(request: http.IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const by = whoAsks(request, this.known);
    if (by === null) return refuse(socket, 407);
    const to = authorityOf(request.url ?? '');
    if (to === null) return refuse(socket, 400);
    const upstream = await this.#reach(by, to);
    if (typeof upstream === 'number') return refuse(socket, upstream);
    // The child may have gone while we connected.
    if (socket.destroyed) return void upstream.destroy();
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    join(socket, upstream);
  }

  async #forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const by = whoAsks(request, this.known);
    if (by === null) return answer(response, 407);
    const url = URL.parse(request.url ?? '');
    const to = url?.protocol === 'http:' ? destinationOf(url.href) : null;
    if (url === null || to === null) return answer(response, 400);
    const socket = await this.#reach(by, to);
    if (typeof socket === 'number') return answer(response, socket);
    if (response.destroyed) return void socket.destroy();
    const outgoing = http.request({
      createConnection: () => socket,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: [...headersOnward(request.rawHeaders), 'host', url.host, 'connection', 'close'],
      maxHeaderSize: this.#limits.maxHeaderBytes,
    });
    outgoing.on('response', (incoming) => {
      const { statusCode = 0, rawHeaders } = incoming;
      // INVARIANT: nothing that a host answers is thrown here: it would end the gateway. A status below 100 would.
      if (statusCode < 200) return void outgoing.destroy(new Error('no status of an answer'));
      response.writeHead(statusCode, [...headersOnward(rawHeaders)]);
      incoming.pipe(response);
      incoming.on('error', () => response.destroy());
    });
    // Nobody asked for another protocol; without a listener the child would wait for an answer.
    outgoing.on('upgrade', () => answer(response, 502));
    outgoing.on('error', () => (response.headersSent ? response.destroy() : answer(response, 502)));
    response.once('close', () => socket.destroy());
    request.pipe(outgoing);
  }
}

/** INVARIANT: without the login of a child nothing is looked up and nothing is connected. */
function whoAsks(request: http.IncomingMessage, known: ReadonlyMap<string, Known>): Known | null {
  const [scheme, encoded = ''] = (request.headers['proxy-authorization'] ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return null;
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('latin1').split(':');
  const found = known.get(user);
  const given = Buffer.from(rest.join(':'));
  if (found === undefined || given.length !== found.password.length) return null;
  return crypto.timingSafeEqual(given, found.password) ? found : null;
}

/** `host:port`, as CONNECT names it. */
function authorityOf(text: string): Destination | null {
  const [, name = '', port = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const host = readHost(name);
  return host === null || Number(port) < 1 || Number(port) > 65_535 ? null : { host, port: Number(port) };
}

const ofOneHop = ['connection', 'host', 'keep-alive', 'te', 'trailer', 'upgrade'];

/** Without what belongs to the connection of the child, and without its login. */
function* headersOnward(raw: readonly string[]): Generator<string> {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const lower = name.toLowerCase();
    if (!lower.startsWith('proxy-') && !ofOneHop.includes(lower)) yield* [name, raw[at + 1] ?? ''];
  }
}

const says: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

function extraOf(status: number): Readonly<Record<string, string>> {
  if (status === 407) return { 'proxy-authenticate': 'Basic realm="recourse"' };
  return status === 403 ? { 'x-recourse-code': 'EGRESS_DENIED' } : {};
}

function refuse(socket: Duplex, status: number): void {
  const extra = Object.entries(extraOf(status)).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${says[status]}\r\n${extra.join('')}content-length: 0\r\nconnection: close\r\n\r\n`;
  if (socket.writable) socket.end(head);
  else socket.destroy();
}

function answer(response: http.ServerResponse, status: number): void {
  response.writeHead(status, { ...extraOf(status), 'content-length': 0, connection: 'close' }).end();
}

function join(one: Duplex, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
}
