/** Which redirects are followed, and what goes with them. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { listenApi, targetOf, toolOf, upstreamOf } from '../../../test/support/http/api.ts';
import { compileList } from '../../core/egress/egress-list.ts';
import type { HttpTarget } from './http-config.ts';

/** Another server of this machine may be reached. */
const local = { attempt: { egress: compileList(['127.0.0.1']) } };

/** Two servers; the first redirects `/it` to `to`, on itself or on the second. */
async function world(t: TestContext, status: number, to: 'here' | 'there') {
  const there = await listenApi(t, (_, response) => response.end('there'));
  const here = await listenApi(t, ({ url }, response) => {
    if (!url.startsWith('/it')) response.end('here');
    else response.writeHead(status, { location: to === 'here' ? '/other' : `${there.url}/other` }).end();
  });
  return { here, there };
}

const headers = { Authorization: 'Bearer secret', 'X-Api': 'v1' };

/** Rule, status, method, where to, and the output; null if it is not followed. */
const cases: readonly (readonly [HttpTarget['redirects'], number, string, 'here' | 'there', string | null])[] = [
  ['none', 302, 'GET', 'here', null],
  ['same_origin', 302, 'GET', 'here', 'here'],
  ['same_origin', 302, 'GET', 'there', null],
  ['same_origin', 307, 'POST', 'here', 'here'],
  ['same_origin', 308, 'POST', 'here', 'here'],
  ['same_origin', 301, 'POST', 'here', null],
  ['same_origin', 302, 'POST', 'here', null],
  ['same_origin', 303, 'POST', 'here', null],
  ['follow', 303, 'GET', 'there', 'there'],
  ['follow', 307, 'GET', 'there', 'there'],
  ['follow', 307, 'POST', 'there', null],
];

describe('a redirect', () => {
  for (const [redirects, status, method, to, output] of cases)
    test(`${status} of a ${method} to ${to} by ${redirects}: ${output === null ? 'not followed' : 'followed'}`, async (t) => {
      const { here, there } = await world(t, status, to);
      const effectClass = method === 'GET' ? 'pure' : 'plain';
      const target = targetOf(here.url, { redirects, headers });
      const result = await upstreamOf(t, target, toolOf({ method }, { effectClass }))({ n: 1 }, undefined, local);
      if (output !== null) assert.deepEqual(result, { kind: 'returned', output, errors: [] });
      else {
        assert.equal(result.kind === 'failed' && result.failure.kind, 'unknown');
        assert.match(result.kind === 'failed' ? result.failure.message : '', /redirect/);
        assert.deepEqual([here.heard.length, there.heard.length], [1, 0]);
      }
      const second = [...here.heard.slice(1), ...there.heard];
      for (const each of second) assert.equal(each.method, method);
    });

  test('to another origin carries no secret of a credential', async (t) => {
    const { here, there } = await world(t, 307, 'there');
    const credentials = ['header', 'query'].map((into) => ({
      name: into,
      inject: { into: into as 'header' | 'query', name: 'X-Planted' },
      reveal: () => 'plantedSecret',
      usedId: () => null,
    }));
    const invoke = upstreamOf(
      t,
      targetOf(here.url, { redirects: 'follow' }),
      toolOf({ method: 'GET' }, { effectClass: 'pure' }),
    );
    await invoke({}, undefined, { attempt: { ...local.attempt, credentials } });
    assert.match(JSON.stringify(here.heard), /X-Planted=plantedSecret.*plantedSecret/);
    assert.equal(there.heard.length, 1);
    assert.doesNotMatch(JSON.stringify(there.heard), /planted/i);
  });

  test('to another origin loses the secrets of the query that the server repeats, and nothing else', async (t) => {
    const there = await listenApi(t, (_, response) => response.end('there'));
    const here = await listenApi(t, ({ url }, response) =>
      response.writeHead(302, { location: `${there.url}${url}` }).end(),
    );
    const credential = {
      name: 'query',
      inject: { into: 'query', name: 'api_key' },
      reveal: () => 'plantedSecret',
      usedId: () => null,
    } as const;
    const target = targetOf(`${here.url}/?token=plantedToken`, { redirects: 'follow' });
    const invoke = upstreamOf(t, target, toolOf({ method: 'GET' }, { effectClass: 'pure' }));
    await invoke({ n: 1 }, undefined, { attempt: { ...local.attempt, credentials: [credential] } });
    assert.match(here.heard[0]?.url ?? '', /token=plantedToken.*api_key=plantedSecret/);
    assert.match(there.heard[0]?.url ?? '', /\?n=1$/);
  });

  test('to the same origin carries headers, key and body', async (t) => {
    const { here } = await world(t, 307, 'here');
    await upstreamOf(t, targetOf(here.url, { redirects: 'same_origin', headers }))({ n: 1 });
    const [, second] = here.heard;
    assert.deepEqual(
      [second?.headers.authorization, second?.headers['idempotency-key'], second?.body],
      ['Bearer secret', 'call_1', '{"n":1}'],
    );
  });

  test('to another origin carries no credential and no configured header', async (t) => {
    const { here, there } = await world(t, 307, 'there');
    const target = targetOf(here.url, { redirects: 'follow', headers, key: { kind: 'none' } });
    await upstreamOf(t, target)({ n: 1 }, undefined, local);
    const [second] = there.heard;
    assert.equal(second?.body, '{"n":1}');
    assert.deepEqual([second?.headers.authorization, second?.headers['x-api']], [undefined, undefined]);
  });

  test('without an end is given up after the limit', async (t) => {
    const api = await listenApi(t, (_, response) => response.writeHead(302, { location: '/it' }).end());
    const target = targetOf(api.url, { redirects: 'same_origin', limits: { maxRedirects: 3 } });
    const result = await upstreamOf(t, target, toolOf({ method: 'GET' }, { effectClass: 'pure' }))();
    assert.deepEqual([result.kind, api.heard.length], ['failed', 4]);
  });

  test('to where nobody listens is no proof that nothing was sent', async (t) => {
    const { here, there } = await world(t, 307, 'there');
    await there.stop();
    const target = targetOf(here.url, { redirects: 'follow', key: { kind: 'none' } });
    const result = await upstreamOf(t, target)({}, undefined, local);
    assert.deepEqual(result.kind === 'failed' && [result.failure.kind, result.failure.effect], ['timeout', null]);
  });

  /** Status, effect class, and what is known when the list does not let us follow. */
  const stopped = [
    [302, 'pure', null],
    [302, 'plain', null],
    [307, 'plain', 'none'],
  ] as const;
  for (const [status, effectClass, effect] of stopped)
    test(`${status} of a ${effectClass} call to a host that is not listed: effect ${effect ?? 'by the table'}`, async (t) => {
      const { here, there } = await world(t, status, 'there');
      const target = targetOf(here.url, { redirects: 'follow', key: { kind: 'none' } });
      const result = await upstreamOf(t, target, toolOf({ method: 'GET' }, { effectClass }))();
      assert.deepEqual(
        result.kind === 'failed' && [result.failure.kind, result.failure.subject, result.failure.effect],
        ['unknown', 'egress', effect],
      );
      assert.deepEqual([here.heard.length, there.heard.length], [1, 0]);
    });

  test('to another scheme is not followed', async (t) => {
    const api = await listenApi(t, (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end());
    const result = await upstreamOf(t, targetOf(api.url, { redirects: 'follow' }), toolOf({ method: 'GET' }))();
    assert.equal(result.kind, 'failed');
  });
});
