/**
 * The command line of the MCP Inspector at a gateway of official servers, and at a workflow over HTTP and over stdio.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin } from '../../support/recourse-process.ts';
import { type Answer, envelopeOf } from '../../support/servers-clients.ts';
import { startUp, type WrittenConfig } from '../../support/servers-gateway.ts';
import { createInspect, type Inspect, installInspector } from '../../support/servers-inspector.ts';
import { createHome, type Home } from '../../support/servers-real.ts';

const toolFailed = 5;

/** One note, written and read by the filesystem server. */
const notes = {
  description: 'Writes one note and keeps it.',
  initial: 'blank',
  actions: {
    write: { description: 'Writes the note.', tool: 'files/write_file' },
    read: { description: 'Reads the note.', tool: 'files/read_text_file' },
    keep: { description: 'Keeps the note as it is.' },
  },
  states: {
    blank: { on: { write: 'written' } },
    written: { on: { write: 'written', read: 'written', keep: 'kept' } },
    kept: { type: 'final' },
  },
};

const filesOf = ({ files }: Home) => ({ files: { mcp: files, tools: { 'read_*': { effect: 'pure' } } } });

test('the MCP Inspector reads the gateway from its command line', async (t) => {
  const problem = await installInspector();
  if (problem !== null) return t.skip(problem);
  const home = createHome(t);
  const config: WrittenConfig = {
    tools: { ...filesOf(home), everything: { mcp: home.everything } },
    workflows: { notes },
  };
  const up = await startUp(t, home.path, config);
  const at = (url: URL) => createInspect(home.path, [url.href, '--transport', 'http']);

  await t.test('every tool of the servers', async () => {
    const inspect = at(up.url);
    const { code, result } = await inspect('--method', 'tools/list', '--strict');
    assert.equal(code, 0, 'the Inspector finds schemas that clients cannot read');
    const names = (result['tools'] as readonly Answer[]).map(({ name }) => name);
    for (const name of ['files__read_text_file', 'files__write_file', 'everything__echo'])
      assert.ok(names.includes(name));
  });

  const note = path.join(home.folder, 'note.txt');
  writeFileSync(note, 'Grüße 👋\n');
  const call = (tool: string, ...args: readonly string[]) =>
    at(up.url)('--method', 'tools/call', '--tool-name', tool, ...args);

  for (const era of ['legacy', 'modern'])
    await t.test(`the result of a tool and its failure, in its ${era} era`, async () => {
      const [read, missing] = await Promise.all([
        call('files__read_text_file', '--protocol-era', era, '--tool-arg', `path=${note}`),
        call('files__read_text_file', '--protocol-era', era, '--tool-arg', `path=${note}.gone`),
      ]);
      assert.equal(read.code, 0, read.complaint);
      assert.deepEqual(read.result['structuredContent'], { content: 'Grüße 👋\n' });
      assert.equal(missing.code, toolFailed, missing.complaint);
      const failed = envelopeOf(missing.result);
      assert.deepEqual([failed['error'], failed['effect']], ['action_error', 'none']);
      assert.match(String(failed['error_message']), /ENOENT/);
    });

  await t.test('the refusal of wrong arguments', async () => {
    const invalid = await call('files__read_text_file', '--tool-args-json', '{"path":5}');
    assert.equal(invalid.code, toolFailed, invalid.complaint);
    const refused = envelopeOf(invalid.result);
    assert.deepEqual([refused['error'], refused['effect']], ['validation_failed', 'none']);
    assert.deepEqual(refused['resolution'], { type: 'fix_input', fields: ['path'] });
  });

  await t.test('a workflow at its own address', async () => {
    const inspect = at(up.urlOf('notes'));
    const { session } = await walk(inspect, home);
    const uri = `recourse://state/${session}`;
    const { contents } = (await inspect('--method', 'resources/read', '--uri', uri)).result;
    const [state] = contents as readonly { readonly text: string }[];
    const { seq, state: where } = JSON.parse(state?.text ?? '{}') as { seq: number; state: unknown };
    assert.equal(seq, 1);
    assert.match(JSON.stringify(where), /written/);
  });
});

test('the MCP Inspector starts a workflow over stdio and walks it', async (t) => {
  const problem = await installInspector();
  if (problem !== null) return t.skip(problem);
  const home = createHome(t);
  // Each run of the Inspector starts all of it anew.
  const config: WrittenConfig = { tools: filesOf(home), workflows: { notes } };
  writeFileSync(path.join(home.path, 'recourse.yaml'), JSON.stringify(config));
  const target = [process.execPath, bin, 'serve', 'notes', '--file', 'notes.db'];
  await walk(createInspect(home.path, target), home);
});

/**
 * Each run of the Inspector is a connection of its own: what holds the walk together is the session of the last reply.
 */
async function walk(inspect: Inspect, { folder }: Home): Promise<{ readonly session: string }> {
  const step = async (args: object) => {
    const said = JSON.stringify(args);
    return inspect('--method', 'tools/call', '--tool-name', 'step', '--tool-args-json', said);
  };
  const note = path.join(folder, 'walked.txt');

  const [listed, served] = await Promise.all([
    inspect('--method', 'tools/list', '--strict'),
    inspect('--method', 'resources/list'),
  ]);
  assert.equal(listed.code, 0, listed.complaint);
  assert.deepEqual(
    (listed.result['tools'] as readonly Answer[]).map(({ name }) => name),
    ['step', 'reset_session', 'fork_session', 'next', 'history'],
  );
  assert.deepEqual(
    (served.result['resources'] as readonly Answer[]).map(({ uri }) => uri),
    ['next', 'state', 'session', 'history', 'graph', 'graph.mmd'].map((name) => `recourse://${name}`),
  );

  const early = await step({ action: 'keep' });
  assert.equal(early.code, toolFailed, early.complaint);
  const refusal = early.result['structuredContent'] as Answer;
  assert.equal(refusal['error'], 'invalid_transition');
  assert.deepEqual(refusal['valid_next_actions'], ['write']);
  const { session } = refusal;
  assert.equal(typeof session, 'string');

  const written = await step({ action: 'write', inputs: { path: note, content: 'walked' }, session });
  assert.equal(written.code, 0, JSON.stringify(written));
  const reply = written.result['structuredContent'] as Answer;
  assert.deepEqual([reply['session'], reply['seq']], [session, 1]);
  assert.deepEqual(reply['valid_next_actions'], ['write', 'read', 'keep']);

  assert.equal(readFileSync(note, 'utf8'), 'walked');
  return { session: String(session) };
}
