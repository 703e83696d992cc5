/**
 * What the official servers refuse reaches every client as the gateway's envelope, with the server's own words in it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { type Answer, clients, directClient, envelopeOf, listedBy } from '../../support/servers-clients.ts';
import { startUp } from '../../support/servers-gateway.ts';
import { createHome } from '../../support/servers-real.ts';

interface Failing {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the operator declared about the tool decides it. */
  readonly effect: 'none' | 'unknown';
}

test('what a server refuses is told in the envelope', async (t) => {
  const home = createHome(t);
  const { everything, files, memory, folder } = home;
  const [up, ...direct] = await Promise.all([
    startUp(t, home.path, {
      tools: {
        everything: { mcp: everything },
        files: { mcp: files, tools: { 'read_*': { effect: 'pure' } } },
        trusted: { mcp: files, annotations: 'trust' },
        memory: { mcp: memory },
      },
    }),
    directClient(t, everything),
    directClient(t, files),
    directClient(t, createHome(t).memory),
  ] as const);
  const [alone, aloneFiles, aloneMemory] = direct;
  const serverOf = { everything: alone, files: aloneFiles, trusted: aloneFiles, memory: aloneMemory };
  const listed = (await Promise.all(Object.entries(serverOf).map(([name, client]) => listedBy(name, client)))).flat();
  const names = listed.map(({ name }) => name);
  const missing = path.join(folder, 'nothing.txt');
  const outside = path.join(home.path, 'outside.txt');

  const failing: readonly Failing[] = [
    { tool: 'files/read_text_file', args: { path: missing }, effect: 'none' },
    { tool: 'files/read_text_file', args: { path: outside }, effect: 'none' },
    { tool: 'files/read_media_file', args: { path: missing }, effect: 'none' },
    { tool: 'files/list_directory', args: { path: missing }, effect: 'unknown' },
    { tool: 'files/write_file', args: { path: outside, content: 'x' }, effect: 'unknown' },
    { tool: 'files/edit_file', args: { path: missing, edits: [{ oldText: 'a', newText: 'b' }] }, effect: 'unknown' },
    { tool: 'trusted/list_directory', args: { path: missing }, effect: 'none' },
    { tool: 'trusted/write_file', args: { path: outside, content: 'x' }, effect: 'unknown' },
    {
      tool: 'memory/add_observations',
      args: { observations: [{ entityName: 'Nobody', contents: ['is here'] }] },
      effect: 'unknown',
    },
    { tool: 'everything/gzip-file-as-resource', args: { name: 'a', data: 'ftp://nowhere' }, effect: 'unknown' },
    { tool: 'everything/simulate-research-query', args: { topic: 'tasks' }, effect: 'unknown' },
  ];

  for (const [name, connect] of Object.entries(clients))
    await t.test(`to ${name}`, async (each) => {
      const client = await connect(each, up.url);
      // A client that knows what was listed checks structured content, and some check that of errors, too.
      await client.listTools();

      for (const { tool, args, effect } of failing) {
        const [server, own] = tool.split('/') as [keyof typeof serverOf, string];
        const theirs = await serverOf[server].raw('tools/call', { name: own, arguments: args });
        assert.equal(theirs['isError'], true, tool);
        const result = await ask(tool, args);
        const reply = envelopeIn(result);
        assert.equal(reply['error'], 'action_error', tool);
        assert.equal(reply['error_message'], textIn(theirs), tool);
        assert.equal(reply['error_type'], 'ToolError', tool);
        assert.equal(reply['requested'], tool);
        assert.equal(reply['effect'], effect, tool);
        const resolution = effect === 'none' ? 'choose_action' : 'reconcile';
        assert.equal((reply['resolution'] as Answer)['type'], resolution, tool);
        checkOffer(reply['valid_next_actions'], reply['next_total'], tool);
        // Who reads nothing but the text learns it, too.
        assert.ok(textIn(result).includes(textIn(theirs)), tool);
      }
      assert.ok(!existsSync(outside));

      const invalid = envelopeIn(await ask('files/write_file', { path: 5 }));
      assert.equal(invalid['error'], 'validation_failed');
      assert.equal(invalid['effect'], 'none');
      assert.deepEqual((invalid['resolution'] as Answer)['fields'], ['content', 'path']);
      checkOffer(invalid['valid_next_actions'], invalid['next_total'], 'files/write_file');

      const unknown = envelopeIn(await ask('files/read_text_fil', {}));
      assert.equal(unknown['error'], 'unknown_action');
      assert.equal(unknown['did_you_mean'], 'files__read_text_file');
      checkOffer(unknown['known_actions'], unknown['known_total'], 'files/read_text_file');

      /** The nearest names of many, as they are listed. */
      function checkOffer(offered: unknown, total: unknown, nearest: string): void {
        assert.ok(names.length > 32 && Array.isArray(offered) && offered.length === 32, nearest);
        assert.equal(total, names.length, nearest);
        assert.equal(offered[0], nearest.replace('/', '__'));
        for (const each of offered) assert.ok(names.includes(each), String(each));
      }

      /** As agents do it; only what the first SDK's client would not even send is sent without its help. */
      function ask(tool: string, args: object): Promise<Answer> {
        const needsTask = tool.endsWith('simulate-research-query');
        return needsTask ? client.raw('tools/call', { name: tool, arguments: args }) : client.callTool(tool, args);
      }

      /** In the structured content, whatever the server promised: what is listed allows it. */
      function envelopeIn(result: Answer): Answer {
        assert.equal(result['isError'], true, JSON.stringify(result));
        assert.ok('structuredContent' in result);
        return envelopeOf(result);
      }
    });
});

function textIn(result: Answer): string {
  return (result['content'] as readonly { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}
