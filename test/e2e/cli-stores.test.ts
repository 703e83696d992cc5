/** The command as people run it, on stores that gateways in other processes made. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  aClosedStore,
  exitOf,
  folder,
  objectsIn,
  recourse,
  startGateway,
  startRecourse,
} from '../support/recourse-process.ts';

test('calls and audit work while another process owns the store, and after it was killed', async (t) => {
  const home = folder(t);
  const gateway = await startGateway(t, join(home, 'recourse.db'));
  const paid = String((await gateway.ask({ tool: 'pay', args: { cents: 450 }, key: 'k' }))['call_id']);
  const hanging = String((await gateway.ask({ tool: 'hang', wait_seconds: 0 }))['call_id']);
  const refused = String((await gateway.ask({ tool: 'pya' }))['call_id']);

  const look = () => {
    const list = recourse(['calls', 'ls', '--json'], { cwd: home });
    const states = objectsIn(list.stdout);
    assert.deepEqual(
      states.map((call) => [call['call_id'], call['state']]),
      [
        [refused, 'DENIED'],
        [hanging, 'DISPATCHED'],
        [paid, 'SUCCEEDED'],
      ],
    );
    assert.match(
      recourse(['calls', 'ls', '--state', 'succeeded'], { cwd: home }).stdout,
      new RegExp(`${paid} +SUCCEEDED +pay +1× +waiter`),
    );
    const story = recourse(['calls', 'show', refused], { env: { RECOURSE_FILE: join(home, 'recourse.db') } });
    assert.match(story.stdout, /✗ known refused {2}· input not asked/);
    assert.match(story.stdout, /a gate refused the call; nothing ran/);
    const verified = recourse(['audit', 'verify'], { cwd: home });
    assert.deepEqual([verified.status, verified.stderr], [0, '']);
    assert.match(verified.stdout, /^✓ the journal holds\n {2}8 records, 1 epoch, /);
    assert.equal(recourse(['audit', 'tail', '-n', '3'], { cwd: home }).stdout.split('\n').length, 4);
  };
  look();
  gateway.child.kill('SIGKILL');
  await exitOf(gateway.child);
  look();
});

test('pages: --before goes on where the last page ended', async (t) => {
  const { home, ids } = await aClosedStore(t, 5);
  const first = recourse(['calls', 'ls', '--limit', '2'], { cwd: home });
  assert.match(first.stderr, new RegExp(`older ones: --before ${ids[3]}`));
  const second = recourse(['calls', 'ls', '--limit', '10', '--before', ids[3] ?? '', '--json'], { cwd: home });
  const found = objectsIn(second.stdout).map(({ call_id }) => call_id);
  assert.deepEqual(found, [ids[2], ids[1], ids[0]]);
});

test('[S002-audit-1] following prints records as they come and ends in good order', async (t) => {
  const file = join(folder(t), 'recourse.db');
  const gateway = await startGateway(t, file);
  const tail = startRecourse(t, ['audit', 'tail', '--follow', '-n', '1', '--json', '--file', file]);
  const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  assert.equal((await next())['kind'], 'epoch_open');
  await gateway.ask({ tool: 'pay' });
  const kinds = [await next(), await next(), await next(), await next()].map(({ kind }) => kind);
  assert.deepEqual(kinds, ['session_opened', 'prepared', 'dispatched', 'settled']);
  tail.kill('SIGINT');
  assert.equal(await exitOf(tail), 0);
});

test('Ctrl-C right after the first line is an end in good order too', async (t) => {
  const { file } = await aClosedStore(t, 1);
  const tail = startRecourse(t, ['audit', 'tail', '--follow', '--file', file]);
  await once(tail.stdout, 'data');
  tail.kill('SIGINT');
  assert.equal(await exitOf(tail), 0);
});

test('a reader that has had enough is no error', async (t) => {
  const { file } = await aClosedStore(t, 1);
  const gateway = await startGateway(t, file);
  for (const words of [['--help'], ['primer'], ['audit', 'tail', '--follow', '-n', '1', '--file', file]]) {
    const child = startRecourse(t, words);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    // What follows only notices when it has something to say.
    await gateway.ask({ tool: 'pay' });
    assert.equal(await exitOf(child), 0, words.join(' '));
    assert.equal(said, '');
  }
});

test('what is no store of ours gets one sentence that says what to do', async (t) => {
  const { home, file } = await aClosedStore(t);
  const at = (name: string) => join(home, name);
  writeFileSync(at('empty.db'), '');
  writeFileSync(at('text.db'), 'not a database at all\n'.repeat(500));
  mkdirSync(at('folder.db'));
  const change = (name: string, statement: string) => {
    const database = new DatabaseSync(at(name));
    database.exec(statement);
    database.close();
  };
  change('foreign.db', 'CREATE TABLE guests (name TEXT)');
  const copy = (name: string) => change('recourse.db', `VACUUM INTO '${at(name)}'`);
  copy('newer.db');
  change('newer.db', 'PRAGMA user_version = 99');
  copy('damaged.db');
  const handle = openSync(at('damaged.db'), 'r+');
  for (let page = 2; page < 40; page++) writeSync(handle, Buffer.alloc(4_096, 0xee), 0, 4_096, page * 4_096);
  closeSync(handle);
  const sentences: Readonly<Record<string, RegExp>> = {
    'absent.db': /there is no store at '.*absent\.db': name it with --file or RECOURSE_FILE, or start a gateway/,
    'folder.db': /'.*folder\.db' is a folder: name the file in it/,
    'empty.db': /'.*empty\.db' is empty: start the gateway once, or name another file/,
    'text.db': /'.*text\.db' is not a database: name another file/,
    'foreign.db': /'.*foreign\.db' belongs to another program: name another file/,
    'newer.db': /'.*newer\.db' was written by a newer version \(schema 99, .*: upgrade/,
    // Met when the file is opened, or when the journal is read: that depends on which pages are hit.
    'damaged.db': /'.*damaged\.db' is damaged.*: (?:keep a copy of it|stop the gateway),? and restore a backup/,
  };
  for (const [name, sentence] of Object.entries(sentences)) {
    for (const command of [
      ['calls', 'ls'],
      ['calls', 'show', 'call_1'],
      ['audit', 'verify'],
      ['audit', 'tail', '--json'],
    ]) {
      const { status, stdout, stderr } = recourse([...command, '--file', at(name)]);
      // Where the damage is not met, there is nothing to say about it.
      if (name === 'damaged.db' && command[1] !== 'verify') continue;
      assert.equal(status, 3, `${command.join(' ')} ${name}: ${stderr}`);
      assert.match(stderr, sentence);
      assert.deepEqual([stdout, stderr.trimEnd().split('\n').length], ['', 1]);
    }
  }
  assert.equal(recourse(['audit', 'verify', '--file', file]).status, 0);
});

test('a name that means something else to SQLite is the name of a file', async (t) => {
  const { home, ids } = await aClosedStore(t, 1);
  const name = 'file:recourse.db?mode=memory';
  renameSync(join(home, 'recourse.db'), join(home, name));
  const { stdout, stderr } = recourse(['calls', 'ls', '--json', '--file', name], { cwd: home });
  assert.deepEqual([stderr, objectsIn(stdout).map(({ call_id }) => call_id)], ['', ids]);
});

test('a journal that was changed does not verify: the place, the meaning, exit code 1', async (t) => {
  const { home, file } = await aClosedStore(t);
  const database = new DatabaseSync(file);
  database.exec(`UPDATE payloads SET bytes = CAST('{"cents":9}' AS BLOB) WHERE id = (SELECT min(id) FROM payloads)`);
  database.close();
  const text = recourse(['audit', 'verify'], { cwd: home });
  assert.equal(text.status, 1);
  assert.match(text.stdout, /^✗ the journal does not hold from record 1\/3 on\n/);
  assert.match(
    text.stdout,
    /1\/3 {2}payload 'args' does not match its commitment\n {6}the arguments, the reply or another part was changed/,
  );
  const json = recourse(['audit', 'verify', '--json'], { cwd: home });
  assert.equal(json.status, 1);
  const { holds, problems } = JSON.parse(json.stdout) as { holds: boolean; problems: readonly object[] };
  assert.equal(holds, false);
  assert.deepEqual(Object.keys(problems[0] ?? {}), ['epoch', 'seq', 'problem', 'meaning']);
});
