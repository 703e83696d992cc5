/** Reads who is told, under `notify`, and reports what does not fit together. Sends nothing. */
import type { JsonObject } from '../core/values/json.ts';
import type { NotifyConfig } from './config.ts';
import { itemsOf, mapOf, numberOf, textOf } from './yaml/plain-values.ts';
import type { Tell, Warn } from './problem.ts';
import { hasKey, keyPlaceOf, placeOf } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';

interface Parts {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly warn: Warn;
}

/** One subscriber, where it stands in the file. */
interface Read extends Parts {
  readonly name: string;
  readonly here: readonly string[];
  readonly read: JsonObject;
}

const mailDefaults = { batchMs: 60_000, limit: { messages: 60, perMs: 3_600_000 } } as const;
const periods = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

export function readNotify(notify: JsonObject, parts: Parts): readonly NotifyConfig[] {
  return Object.entries(notify).map(([name, each]) => {
    const one = { ...parts, name, here: ['notify', name], read: mapOf(each) };
    if (hasKey(parts.tree, ['notify', name, 'extension'])) return readOther(one);
    return hasKey(parts.tree, ['notify', name, 'smtp']) ? readMailing(one) : readWebhook(one);
  });
}

function readWebhook(one: Read): NotifyConfig {
  const { name, read, here, tree, warn } = one;
  const format = textOf(read['format']) === 'slack' ? 'slack' : 'json';
  const [url, secret] = [textOf(read['webhook']), textOf(read['secret'])];
  checkAddress('webhook', url, one);
  refuseKeys(['from', 'to'], 'only mail has', one);
  // Slack cannot check a signature; other receivers should.
  if (url !== null && format === 'json' && secret === null && !('secret' in read))
    warn(
      keyPlaceOf(tree, here),
      `'${name}' has no secret: nobody there can tell that a message is from here`,
      'add secret: ${NAME}',
    );
  const batchMs = numberOf(read['batch']) ?? 0;
  return { via: 'webhook', ...commonOf(one), batchMs, limit: limitOf(read), url: url ?? '', secret, format };
}

function readMailing(one: Read): NotifyConfig {
  const { read, here, tree, tell } = one;
  const [server, from] = [textOf(read['smtp']), textOf(read['from'])];
  checkAddress('smtp', server, one);
  // With both, that they exclude each other is told already.
  if (!hasKey(tree, [...here, 'webhook'])) refuseKeys(['secret', 'format'], 'only a webhook has', one);
  for (const [key, fix] of [
    ['from', 'add from: recourse@example.com'],
    ['to', 'add to: [ops@example.com]'],
  ] as const)
    if (!hasKey(tree, [...here, key])) tell(keyPlaceOf(tree, here), `mail needs the key '${key}'`, fix);
  const batchMs = numberOf(read['batch']) ?? mailDefaults.batchMs;
  const limit = limitOf(read) ?? mailDefaults.limit;
  return {
    via: 'smtp',
    ...commonOf(one),
    batchMs,
    limit,
    server: server ?? '',
    from: from ?? '',
    to: itemsOf(read['to']),
  };
}

function readOther(one: Read): NotifyConfig {
  const { read } = one;
  refuseKeys(['secret', 'format'], 'only a webhook has', one);
  refuseKeys(['from', 'to'], 'only mail has', one);
  const use = mapOf(read['extension']);
  return {
    via: 'extension',
    ...commonOf(one),
    batchMs: numberOf(read['batch']) ?? 0,
    limit: limitOf(read),
    kind: textOf(use['kind']) ?? '',
    settings: mapOf(use['settings']),
  };
}

function commonOf(one: Read): Pick<NotifyConfig, 'name' | 'events' | 'link'> {
  const { name, read, here, tree, tell } = one;
  const link = textOf(read['link']);
  checkAddress('link', link, one);
  const stranger = link === null ? undefined : /(?<!\$)\{(?!approval_id\})[^}]*\}?/.exec(link)?.[0];
  if (stranger !== undefined)
    tell(placeOf(tree, [...here, 'link']), `nothing stands for '${stranger.slice(0, 40)}' here`, 'use {approval_id}');
  return { name, events: itemsOf(read['events']), link };
}

const examples = { webhook: 'https://host/path', link: 'https://host/path', smtp: 'smtp://user:password@host:587' };

function checkAddress(key: keyof typeof examples, address: string | null, { tree, here, tell }: Read): void {
  if (address === null || address.includes('${')) return;
  const url = URL.parse(address);
  if (url === null || url.hostname === '' || !isEncoded(url.username) || !isEncoded(url.password))
    tell(placeOf(tree, [...here, key]), 'this is no address', `write the whole of it, such as ${examples[key]}`);
}

/** A password with signs of its own is percent-encoded. */
function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function refuseKeys(keys: readonly string[], whose: string, { tree, here, tell }: Read): void {
  for (const key of keys)
    if (hasKey(tree, [...here, key])) tell(keyPlaceOf(tree, [...here, key]), `${whose} '${key}'`, `remove ${key}`);
}

function limitOf(read: JsonObject): NotifyConfig['limit'] {
  const [messages, period] = textOf(read['limit'])?.split('/') ?? [];
  if (messages === undefined || period === undefined) return null;
  return { messages: Number(messages), perMs: periods[period as keyof typeof periods] };
}
