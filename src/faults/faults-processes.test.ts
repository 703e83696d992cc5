/** `recourse faults` as people run it: its line, its options, its end, and its ledger after kill -9. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { ask } from '../../test/support/faults/open-faults.ts';
import { exitOf, folder, objectsIn, recourse, startRecourse } from '../../test/support/recourse-process.ts';

async function start(t: TestContext, ledger: string, ...words: readonly string[]) {
  const child = startRecourse(t, ['faults', '--ledger', ledger, ...words]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: String((await lines.next()).value) };
}

async function startJson(t: TestContext, ledger: string, ...words: readonly string[]) {
  const { child, line } = await start(t, ledger, '--json', ...words);
  return { child, ...(JSON.parse(line) as { url: string; mcp: string; ledger: string; seed: number; rate: number }) };
}

const refund = (url: string, key: string) =>
  ask(`${url}refunds`, { body: { order: key, amount: 5 }, headers: { 'idempotency-key': key } });

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`it prints one line, and ${signal} leaves nothing behind but the ledger`, async (t) => {
    const home = folder(t);
    const ledger = join(home, 'ledger.jsonl');
    const { child, line } = await start(t, ledger, '--rate', '0.5', '--seed', '7');
    const expected =
      /^recourse faults: HTTP at (http:\/\/127\.0\.0\.1:\d+\/), MCP at \1mcp, ledger .*ledger\.jsonl, random faults at rate 0\.5 from seed 7$/;
    const [, url = ''] = expected.exec(line) ?? assert.fail(line);
    // A request that is never answered does not keep it alive.
    await ask(`${url}faults`, { body: { fault: 'slow', ms: 3_600_000 } });
    const waiting = refund(url, 'k');
    const rules = async () => (await ask(`${url}faults`)).body()['rules'] as unknown[];
    await eventually('the request', async () => (await rules()).length === 0);
    child.kill(signal);
    assert.equal(await exitOf(child), 0);
    assert.equal((await waiting).status, 0);
    assert.deepEqual(readdirSync(home), ['ledger.jsonl']);
  });

test('a seed that was not given is drawn and printed', async (t) => {
  const { seed, rate } = await startJson(t, join(folder(t), 'ledger.jsonl'), '--rate', '0.3');
  assert.ok(Number.isInteger(seed));
  assert.equal(rate, 0.3);
});

test('kill -9 in the middle of requests loses no effect that was answered, and no key runs twice', async (t) => {
  const ledger = join(folder(t), 'ledger.jsonl');
  const answered = new Set<string>();
  const keys: string[] = [];
  for (let round = 0; round < 3; round++) {
    const { child, url } = await startJson(t, ledger);
    const gone = once(child, 'exit');
    const under = Array.from({ length: 40 }, async (_, at) => {
      const key = `k${round}-${at}`;
      keys.push(key);
      if ((await refund(url, key)).status !== 200) return;
      answered.add(key);
      // In the middle: some are answered, others are not.
      if (answered.size === round * 40 + 10) child.kill('SIGKILL');
    });
    await Promise.all(under);
    child.kill('SIGKILL');
    await gone;
  }
  const { url } = await startJson(t, ledger);
  const before = new Set(objectsIn(readFileSync(ledger, 'utf8')).filter(isEffect).map(keyOf));
  for (const key of answered) assert.ok(before.has(key), `${key} was answered and is not in the ledger`);
  for (const key of keys) assert.equal((await refund(url, key)).status, 200);
  const effects = objectsIn(readFileSync(ledger, 'utf8')).filter(isEffect).map(keyOf);
  assert.deepEqual(effects.toSorted(), keys.toSorted());
});

const isEffect = ({ kind }: Record<string, unknown>) => kind === 'effect';
const keyOf = ({ key }: Record<string, unknown>) => String(key);

test('rules of a file apply from the start', async (t) => {
  const home = folder(t);
  const rules = join(home, 'rules.yaml');
  writeFileSync(rules, '- fault: 503\n  match: { operation: refund }\n- fault: drop_after\n');
  const { url } = await startJson(t, join(home, 'ledger.jsonl'), '--faults', rules);
  assert.deepEqual([(await refund(url, 'k')).status, (await refund(url, 'k')).status], [503, 0]);
});

test('a repeated key gets 409 with --on-repeat conflict, and runs again after --window', async (t) => {
  const home = folder(t);
  const conflict = await startJson(t, join(home, 'a.jsonl'), '--on-repeat', 'conflict');
  assert.deepEqual([(await refund(conflict.url, 'k')).status, (await refund(conflict.url, 'k')).status], [200, 409]);
  const brief = await startJson(t, join(home, 'b.jsonl'), '--on-repeat', 'conflict', '--window', '0s');
  assert.deepEqual([(await refund(brief.url, 'k')).status, (await refund(brief.url, 'k')).status], [200, 200]);
});

test('what is wrong gets a sentence and an exit code', async (t) => {
  const home = folder(t);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  writeFileSync(join(home, 'rules.yaml'), '- fault: drop_after\n- fault: drop_aftr\n');
  writeFileSync(join(home, 'notes.txt'), 'no ledger\n');
  const ends: readonly (readonly [status: number, line: string, says: RegExp])[] = [
    [2, '--port 65536', /--port is a whole number from 0 to 65535/],
    [2, '--rate 1.5', /--rate is a number from 0 to 1/],
    [2, '--seed x --rate 1', /--seed is a whole number/],
    [2, '--seed 1', /--seed needs --rate/],
    [2, '--window soon', /--window is a duration/],
    [2, '--on-repeat never', /--on-repeat is replay or conflict/],
    [1, '--faults rules.yaml', /rules\.yaml:2.*[\s\S]*did you mean drop_after\?[\s\S]*faults --list/],
    [1, '--faults absent.yaml', /absent\.yaml' cannot be read \(ENOENT\)/],
    [1, '--ledger notes.txt', /line 1 is not an entry of a ledger/],
    [1, `--port ${port}`, /cannot be listened at \(EADDRINUSE\)/],
  ];
  for (const [status, line, says] of ends) {
    const end = recourse(['faults', ...line.split(' ')], { cwd: home });
    assert.equal(end.status, status, `${line}: ${end.stderr}`);
    assert.match(end.stderr, says);
  }
});

test('--list prints every fault with a sentence', () => {
  const rows = objectsIn(recourse(['faults', '--list', '--json']).stdout);
  for (const row of rows) assert.deepEqual(Object.keys(row), ['fault', 'says', 'settings']);
  const { stdout } = recourse(['faults', '--list']);
  assert.equal(stdout.trimEnd().split('\n').length, rows.length);
  assert.match(stdout, /^drop_after +makes the effect, then cuts the connection$/m);
});
