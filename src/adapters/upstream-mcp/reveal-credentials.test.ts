/** The secrets of a connection: who gets them, what is shown of them, and what happens without them. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { attemptOf, never, openUpstreams, statusOf, stdioServer } from '../../../test/support/upstream-mcp.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import { revealAll } from './reveal-credentials.ts';

const child = path.join(import.meta.dirname, '../../../test/support/credentials/credential-child.ts');
const handle = (into: CredentialHandle['inject']['into'], name: string, value: string | null): CredentialHandle => ({
  name: 'it',
  inject: { into, name },
  reveal: () => value,
  usedId: () => 'crd_1',
});
const hide = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value).replaceAll('plantedSecret', '***')) as Value;

describe('the secrets of a connection', () => {
  test('go where they belong, and one that is missing is none at all', () => {
    const all = [handle('header', 'X-Key', 'a'), handle('meta', 'k', 'b'), handle('env', 'NAME', 'c')];
    assert.deepEqual(revealAll(all), { headers: { 'x-key': 'a' }, meta: { k: 'b' }, env: { NAME: 'c' } });
    assert.equal(revealAll([...all, handle('meta', 'other', null)]), null);
  });

  test('are shown in no status, no list and no line of a program that repeats them', async (t) => {
    const lines: string[] = [];
    const upstreams = await openUpstreams(t, [stdioServer('shop', [child])], {
      connectWith: async () => ({ ok: true, handles: [handle('env', 'CHILD_SECRET', 'plantedSecret')] }),
      hide,
      onStderr: (_, line) => lines.push(line),
    });
    await upstreams.upstream.invoke(attemptOf('shop/echo'), never);
    await eventually('its lines', async () => lines.length >= 2);
    const shown = JSON.stringify([statusOf(upstreams, 'shop'), [...upstreams.catalogue().values()], lines]);
    assert.match(shown, /started with \*\*\*/);
    assert.doesNotMatch(shown, /plantedSecret/);
  });

  test('that cannot be had leave the server unstarted, and that is its problem', async (t) => {
    const lacks = { provider: 'vault', reason: 'connection refused', retryAfterSeconds: 30 };
    const upstreams = await openUpstreams(t, [stdioServer('shop', [child])], {
      connectWith: async () => ({ ok: false, lacks }),
    });
    assert.deepEqual(
      [statusOf(upstreams, 'shop').problem, statusOf(upstreams, 'shop').pid],
      ['vault provider returned: connection refused', null],
    );
    assert.deepEqual(upstreams.unlisted()[0]?.lacks, lacks);
  });

  test('with which it could not be opened are handed back, so that others can be fetched', async (t) => {
    const failed: string[][] = [];
    await openUpstreams(t, [stdioServer('shop', ['-e', 'process.exit(1)'])], {
      connectWith: async (_, before) => {
        failed.push(before.map(({ name }) => name));
        return { ok: true, handles: [handle('env', 'NAME', 'x')] };
      },
    });
    await eventually('it is tried again', async () => failed.length >= 2, 60_000);
    assert.deepEqual(failed.slice(0, 2), [[], ['it']]);
  });
});
