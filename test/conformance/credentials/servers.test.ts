/** CONTRACT sections 1 and 4 for credentials of MCP servers: `_meta`, headers, and the environment of a program. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { listenCredentialMcp } from '../../support/credentials/credential-mcp.ts';
import { eventually } from '../../support/eventually.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';

const child = path.join(import.meta.dirname, '../../support/credentials/credential-child.ts');
const program = { name: 'shop', command: process.execPath, args: [child] } as const;
const serverTools = ['shop/echo', 'shop/fail'];
const textIn = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

describe('a program that is started', () => {
  test('[C1-credential-2] gets its secret in its environment and nothing else of ours, and a call its own in _meta', async (t) => {
    const files = ['child.key', 'meta.key'].map((name) => path.join(folderOf(t), name));
    writeFileSync(files[0] ?? '', 'plantedChildSecret\n');
    writeFileSync(files[1] ?? '', 'plantedMetaSecret\n');
    process.env['RECOURSE_TEST_PLANTED'] = 'plantedOfTheGateway';
    t.after(() => delete process.env['RECOURSE_TEST_PLANTED']);
    const gateway = await openGateway(t, [], {
      serverTools,
      servers: [program],
      credentials: {
        child: { file: { path: files[0] ?? '' }, match: ['shop/*'], inject: { env: 'CHILD_SECRET' } },
        meta: { file: { path: files[1] ?? '' }, match: ['shop/echo'], inject: { meta: 'shop/key' } },
      },
    });
    const reply = successOf(await gateway.call({ tool: 'shop/echo' }));
    const said = JSON.parse(textIn(reply.result)) as { env: string; meta: Record<string, unknown>; names: string[] };
    assert.deepEqual([said.env, said.meta['shop/key']], ['[redacted]', '[redacted]']);
    assert.ok(said.names.includes('CHILD_SECRET'));
    assert.deepEqual(
      said.names.filter((name) => name.startsWith('RECOURSE_')),
      [],
    );
    const failed = errorOf(await gateway.call({ tool: 'shop/fail' }), 'action_error');
    assert.doesNotMatch(JSON.stringify([reply, failed, await gateway.records(failed.call_id)]), /planted/);
  });

  test('[C4-credential-2] is not started without its secret, its calls say so, and it starts once there is one', async (t) => {
    const file = path.join(folderOf(t), 'child.key');
    const gateway = await openGateway(t, [], {
      serverTools,
      servers: [program],
      credentials: {
        child: { file: { path: file }, match: ['shop/*'], inject: { env: 'CHILD_SECRET' }, retry_after_seconds: 1 },
      },
    });
    const reply = errorOf(await gateway.call({ tool: 'shop/echo' }), 'denied');
    assert.deepEqual(
      [reply.code, reply.message, reply.provider, reply.resolution.type],
      ['CREDENTIAL_UNAVAILABLE', 'file provider returned: the file: not found', 'file', 'retry_after'],
    );
    writeFileSync(file, 'plantedChildSecret');
    await eventually('it is started', async () => !('error' in (await gateway.call({ tool: 'shop/echo' }))), 60_000);
    rmSync(file);
    // What has no lifetime is used on: the file is looked at again after a minute.
    successOf(await gateway.call({ tool: 'shop/echo' }));
  });
});

describe('a server at an address', () => {
  test('[C1-credential-2] gets its secret with every request, listing included', async (t) => {
    const server = await listenCredentialMcp(t, 'plantedHeaderSecret');
    const file = path.join(folderOf(t), 'header.key');
    writeFileSync(file, 'plantedHeaderSecret');
    const gateway = await openGateway(t, [], {
      serverTools: ['api/echo'],
      servers: [{ name: 'api', url: `${server.url}/mcp`, tools: { echo: { effect: 'pure' } } }],
      credentials: { header: { file: { path: file }, match: ['api/*'], inject: { header: 'Authorization' } } },
    });
    const reply = successOf(await gateway.call({ tool: 'api/echo' }));
    assert.match(textIn(reply.result), /\[redacted\]/);
    assert.ok(server.heard.every(({ headers }) => headers.authorization === 'Bearer plantedHeaderSecret'));
    assert.doesNotMatch(JSON.stringify([reply, await gateway.records(reply.call_id)]), /planted/);
  });

  test('[C9-credential-1] that refuses it gets the call once more with the new one', async (t) => {
    const server = await listenCredentialMcp(t, 'plantedHeaderSecret');
    const file = path.join(folderOf(t), 'header.key');
    writeFileSync(file, 'plantedHeaderSecret');
    const gateway = await openGateway(t, [], {
      serverTools: ['api/echo'],
      servers: [{ name: 'api', url: `${server.url}/mcp` }],
      credentials: { header: { file: { path: file }, match: ['api/*'], inject: { header: 'Authorization' } } },
    });
    successOf(await gateway.call({ tool: 'api/echo' }));
    writeFileSync(file, 'plantedRotatedSecret');
    server.demand('plantedRotatedSecret');
    const reply = successOf(await gateway.call({ tool: 'api/echo', args: { n: 2 } }));
    assert.equal(server.calls(), 2);
    const kinds = (await gateway.records(reply.call_id)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'attempt_scheduled').length, 1);
  });
});
