/** Reads the webhooks under `notify` and reports what does not fit together. Sends nothing. */
import type { JsonObject } from '../core/values/json.ts';
import type { NotifyConfig } from './config.ts';
import { itemsOf, mapOf, textOf } from './yaml/plain-values.ts';
import type { Tell, Warn } from './problem.ts';
import { keyPlaceOf, placeOf } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';

interface Parts {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly warn: Warn;
}

export function readNotify(notify: JsonObject, parts: Parts): readonly NotifyConfig[] {
  return Object.entries(notify).map(([name, each]) => readOne(name, mapOf(each), parts));
}

function readOne(name: string, read: JsonObject, { tree, tell, warn }: Parts): NotifyConfig {
  const here = ['notify', name];
  const format = textOf(read['format']) === 'slack' ? 'slack' : 'json';
  const [url, link, secret] = [textOf(read['webhook']), textOf(read['link']), textOf(read['secret'])];
  for (const [key, address] of [
    ['webhook', url],
    ['link', link],
  ] as const)
    if (address !== null && !address.includes('${') && URL.parse(address) === null)
      tell(placeOf(tree, [...here, key]), 'this is no address', 'write the whole of it, such as https://host/path');
  const stranger = link === null ? undefined : /(?<!\$)\{(?!approval_id\})[^}]*\}?/.exec(link)?.[0];
  if (stranger !== undefined)
    tell(placeOf(tree, [...here, 'link']), `nothing stands for '${stranger.slice(0, 40)}' here`, 'use {approval_id}');
  // Slack cannot check a signature; other receivers should.
  if (url !== null && format === 'json' && secret === null && !('secret' in read))
    warn(
      keyPlaceOf(tree, here),
      `'${name}' has no secret: nobody there can tell that a message is from here`,
      'add secret: ${NAME}',
    );
  return { name, url: url ?? '', events: itemsOf(read['events']), secret, format, link };
}
