/**
 * Finds the running gateway and the key for it, and sends requests to it, for commands. The key goes into one header
 * and nowhere else. The operator's key never leaves this machine.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isKeyText } from '../../adapters/keyring-sqlite/key-text.ts';
import { wasNeverSent } from '../../client/transport/http-failure.ts';
import { configName } from '../../config/config.ts';
import { isObject } from '../../core/values/json.ts';
import type { Daemon, DaemonAnswer, DaemonRequest, DaemonWish, FoundDaemon } from '../../doors/cli/daemon.ts';
import { followDaemon } from './follow-daemon.ts';
import { findStore } from '../state/find-store.ts';
import { keyFilesOf } from '../state/key-files.ts';
import { readOperatorToken } from '../state/operator-token.ts';
import { readRuntime } from '../project/read-runtime.ts';
import { isLoopback } from '../serve/address.ts';

const defaultUrl = 'http://127.0.0.1:7411';
const maxKeyFileBytes = 1_024;
/** Allowance for the network, beside the time that the gateway may take. */
const answerMarginMs = 30_000;
const maxAnswerBytes = 64 << 20;

export async function findDaemon(wish: DaemonWish): Promise<FoundDaemon> {
  const config = path.resolve(wish.config ?? configName);
  const { listen } = await readRuntime(config);
  const stored = await findStore(wish);
  if (stored.kind === 'refused') return refused('key', stored.message);
  const store = stored.file;
  if (wish.url === undefined && listen?.port === 0)
    return refused('usage', 'runtime.listen takes any port that is free: name the one that was taken with --url');
  const url = wish.url === undefined ? (listen === null ? defaultUrl : urlOf(listen)) : baseOf(wish.url);
  if (url === null)
    return refused('usage', '--url is an address such as http://127.0.0.1:7411, without user, query or fragment');
  const key = withPlace(await keyFor(wish, store, url), wish, store);
  if ('problem' in key) return refused('key', key.problem);
  if (key.key === null && wish.as === 'agent') return refused('key', noAgentKey);
  const authorization = key.key === null ? {} : { authorization: `Bearer ${key.key}` };
  const daemon: Daemon = {
    url,
    isNamed: wish.url !== undefined,
    store,
    remark: key.remark,
    ask: (request) => ask(url, request, authorization),
    follow: (order) => followDaemon(url, order, authorization),
  };
  return { kind: 'found', daemon };
}

const noAgentKey =
  'a call needs the key of an agent: set RECOURSE_KEY, or name a file with --key-file; recourse agents add <name> makes one';

const refused = (because: 'usage' | 'key', message: string): FoundDaemon => ({ kind: 'refused', because, message });

/** A wildcard address is reachable through loopback. */
function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
}

function baseOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return null;
  return url.href.replace(/\/+$/, '');
}

type FoundKey = { readonly key: string | null; readonly remark: string | null };

const noKey = 'that is no key: a key begins with rk_, and recourse agents add shows it once';

/**
 * What the command line names; else, for operators, the key beside the store, since the one in the environment is
 * mostly an agent's. Of a gateway that was named by its address nobody knows the store.
 */
async function keyFor(wish: DaemonWish, store: string, url: string): Promise<FoundKey | { readonly problem: string }> {
  const { key, keyFile, envKey, as } = wish;
  if (key !== undefined && keyFile !== undefined) return { problem: '--key and --key-file name two keys: give one' };
  if (key !== undefined) return checked(key, '--key');
  if (keyFile !== undefined) {
    const read = await keyIn(keyFile);
    return 'problem' in read ? read : checked(read.key, `'${keyFile}'`);
  }
  const fromEnv = envKey === undefined ? null : checked(envKey, 'RECOURSE_KEY');
  if (as === 'agent' || (wish.url !== undefined && fromEnv !== null)) return fromEnv ?? { key: null, remark: null };
  const own = operatorKey(store, url);
  return own.key === null && fromEnv !== null ? fromEnv : own;
}

const checked = (key: string, from: string): FoundKey | { readonly problem: string } =>
  isKeyText(key.trim()) ? { key: key.trim(), remark: `the key was that of ${from}` } : { problem: `${from}: ${noKey}` };

async function keyIn(file: string): Promise<{ key: string } | { problem: string }> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > maxKeyFileBytes)
      return { problem: `'${file}' is too large for a key: name a file with a key only` };
    return { key: bytes.toString('utf8').trim() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `'${file}' cannot be read (${code}): check its name, owner and mode` };
  }
}

/** Adds the place of the operator's key to the remark, for somebody whose own key is refused. */
function withPlace(
  found: FoundKey | { readonly problem: string },
  { as, url }: DaemonWish,
  store: string,
): typeof found {
  const place = keyFilesOf(store)?.token;
  if ('problem' in found || found.remark === null || as === 'agent' || url !== undefined || place === undefined)
    return found;
  return found.remark.includes(place)
    ? found
    : { ...found, remark: `${found.remark}; the operator's is in '${place}'` };
}

/** INVARIANT: the operator's own key is sent to this machine only, whatever address was named. */
function operatorKey(store: string, url: string): FoundKey {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (!isLoopback(host))
    return {
      key: null,
      remark: `the key beside the store is for this machine only: for ${host} set RECOURSE_KEY or --key-file`,
    };
  const token = readOperatorToken(store);
  if (token.kind === 'read') return { key: token.key, remark: `the key was that of '${token.file}'` };
  return { key: null, remark: `no key was sent: ${token.message}; or set RECOURSE_KEY or --key-file` };
}

async function ask(
  url: string,
  { method, path: at, body, headers, waitSeconds = 0 }: DaemonRequest,
  authorization: Readonly<Record<string, string>>,
): Promise<DaemonAnswer> {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const limitMs = waitSeconds * 1_000 + answerMarginMs;
  const limit = AbortSignal.timeout(limitMs);
  try {
    const response = await fetch(`${url}${at}`, {
      method,
      // A redirect would carry the key to somebody else.
      redirect: 'manual',
      signal: limit,
      ...sent,
      // Not kept: a command asks seldom, and a request over a connection that its server just closed would be told as
      // lost.
      headers: { accept: 'application/json', connection: 'close', ...sent.headers, ...headers, ...authorization },
    });
    const value = parsed(await readText(response));
    return isObject(value)
      ? { kind: 'answered', status: response.status, body: value }
      : { kind: 'stranger', status: response.status };
  } catch (error) {
    if (wasNeverSent(error)) return { kind: 'nobody' };
    return {
      kind: 'lost',
      reason: limit.aborted ? `there was nothing within ${limitMs / 1_000} s` : 'the connection was lost',
    };
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxAnswerBytes) return '';
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
