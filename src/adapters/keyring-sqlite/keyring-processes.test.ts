/**
 * One file of keys, several processes: adding, rotating and revoking at once, killed in the middle, without room or
 * rights.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { type KeyringProcess, type Shown, startKeyring } from '../../../test/support/keyring-process.ts';
import { aNewKey, aPlace, mustOpenKeyring, noon } from '../../../test/support/open-keyring.ts';
import { whyNoSmallDisk, within } from '../../../test/support/small-disk.ts';

async function shown(asked: Promise<{ readonly value?: unknown }>): Promise<Shown> {
  const answer = await asked;
  assert.ok(answer.value, JSON.stringify(answer));
  return answer.value as Shown;
}

test('two processes add, rotate and revoke while a third finds: each key is what it should be, when it should be', async (t) => {
  const { store, file } = aPlace(t);
  const writers = await Promise.all(
    ['a', 'b'].map(async (tenant) => ({ tenant, writer: await startKeyring(t, store) })),
  );
  const finder = await mustOpenKeyring(t, { file });
  const found = (key: string) => finder.find(key, Date.now());
  const gone = (key: string) => eventually('the end of a key', async () => (await found(key)) === null);
  const walk = async (writer: KeyringProcess, tenant: string, lane: number) => {
    const name = `bot ${lane}`;
    const isHolder = async ({ key, entry }: Shown) =>
      assert.deepEqual(await found(key), { tenant, role: 'agent', name, keyId: entry.id });
    const first = await shown(writer.ask({ op: 'add', tenant, name }));
    await isHolder(first);
    const second = await shown(
      writer.ask({ op: 'rotate', tenant, id: first.entry.id, graceMs: lane % 2 === 0 ? 0 : 3_600_000 }),
    );
    await isHolder(second);
    if (lane % 2 === 0) await gone(first.key);
    else await isHolder(first);
    assert.deepEqual((await writer.ask({ op: 'revoke', tenant, id: second.entry.id })).value, true);
    await gone(second.key);
    assert.equal(
      (await writer.ask({ op: 'revoke', tenant: tenant === 'a' ? 'b' : 'a', id: first.entry.id })).value,
      false,
    );
  };
  await Promise.all(
    writers.flatMap(({ tenant, writer }) => Array.from({ length: 20 }, (_, lane) => walk(writer, tenant, lane))),
  );
  for (const { tenant } of writers) assert.equal((await finder.list(tenant)).length, 40);
});

test('of two processes that rotate one key, one has the new key and the other is told', async (t) => {
  const { store, file } = aPlace(t);
  const keyring = await mustOpenKeyring(t, { file });
  const [one, two] = await Promise.all([startKeyring(t, store), startKeyring(t, store)]);
  for (let round = 0; round < 20; round++) {
    const { entry } = await keyring.add(aNewKey(), Date.now());
    const order = { op: 'rotate', tenant: 'default', id: entry.id, graceMs: 3_600_000 } as const;
    const answers = await Promise.all([one.ask(order), two.ask(order)]);
    const winners = answers.filter(({ value }) => value !== undefined);
    assert.equal(winners.length, 1, JSON.stringify(answers));
    assert.deepEqual(answers.filter(({ reason }) => reason === 'ended').length, 1);
  }
  assert.equal((await keyring.list('default')).length, 40);
});

test('several processes that make the file at once all get the same one', async (t) => {
  const { store, file } = aPlace(t);
  const processes = await Promise.all(Array.from({ length: 4 }, () => startKeyring(t, store)));
  for (const { opened } of processes) assert.deepEqual(opened, { kind: 'opened' });
  await Promise.all(processes.map((each) => shown(each.ask({ op: 'add', tenant: 'default', name: 'bot' }))));
  assert.equal((await (await mustOpenKeyring(t, { file })).list('default')).length, 4);
});

test('kill -9 in the middle of adding loses no key that was shown', { timeout: 240_000 }, async (t) => {
  const { store, file } = aPlace(t);
  const acknowledged: Shown[] = [];
  for (let round = 0; round < 4; round++) {
    const child = await startKeyring(t, store, { mode: 'flood' });
    for (let count = 0; count < 20 + round * 13; count++) acknowledged.push((await child.line()) ?? assert.fail());
    const killed = child.kill();
    for (let line = await child.line(); line !== null; line = await child.line()) acknowledged.push(line);
    await killed;
    const keyring = await mustOpenKeyring(t, { file });
    for (const { key, entry } of acknowledged) assert.equal((await keyring.find(key, Date.now()))?.keyId, entry.id);
    const listed = await keyring.list('default');
    // At most what was under way when it died is there without having been shown; nothing is there by halves.
    assert.ok(listed.length - acknowledged.length <= 8 * (round + 1), `${listed.length} of ${acknowledged.length}`);
    await keyring.close();
  }
});

test(
  'on a full disk keys are found and none is added, and with room again they are',
  { skip: whyNoSmallDisk() },
  async (t) => {
    const disk = path.join(aPlace(t).folder, 'disk');
    mkdirSync(disk);
    const child = await startKeyring(t, path.join(disk, 'recourse.db'), { within: within(disk) });
    const first = await shown(child.ask({ op: 'add', tenant: 'default', name: 'bot' }));
    assert.equal((await child.ask({ op: 'fill' })).value, 'ENOSPC');
    let refused = { reason: '', message: '' };
    // The log may have some room left of its own.
    for (let tried = 0; tried < 2_000 && refused.reason === ''; tried++)
      refused = { reason: '', message: '', ...(await child.ask({ op: 'add', tenant: 'default', name: 'bot' })) };
    assert.equal(refused.reason, 'disk_full', refused.message);
    assert.match(refused.message, /make room, then ask again/);
    const look = await child.ask({ op: 'find', key: first.key });
    assert.equal((look.value as { identity: { keyId: string } }).identity.keyId, first.entry.id);
    await child.ask({ op: 'free' });
    const next = await shown(child.ask({ op: 'add', tenant: 'default', name: 'bot' }));
    assert.ok(((await child.ask({ op: 'find', key: next.key })).value as { identity: unknown }).identity);
  },
);

const nobody = 65_534;

/** Why no process of another user can be started here, or false. */
function whyNobodyElse(): string | false {
  try {
    execFileSync(process.execPath, ['--check', import.meta.filename], { uid: nobody, gid: nobody, stdio: 'ignore' });
    return false;
  } catch {
    return 'no process of another user can read this file';
  }
}

test(
  'a file that cannot be written is read, changes are refused, and a use that cannot be noted harms nobody',
  { skip: whyNobodyElse() },
  async (t) => {
    const { store, file, folder } = aPlace(t);
    const keyring = await mustOpenKeyring(t, { file });
    const { key, entry } = await keyring.add(aNewKey(), noon);
    await keyring.close();
    chownSync(folder, nobody, nobody);
    chownSync(file, nobody, nobody);
    chmodSync(file, 0o400);
    const before = readFileSync(file);
    const child = await startKeyring(t, store, { uid: nobody });
    assert.deepEqual(child.opened, { kind: 'opened' });
    const look = async () =>
      (await child.ask({ op: 'find', key })).value as { identity: { keyId: string }; suppressed: string[] };
    assert.equal((await look()).identity.keyId, entry.id);
    const refused = await child.ask({ op: 'add', tenant: 'default', name: 'bot' });
    assert.equal(refused.reason, 'not_writable', refused.message);
    assert.equal((await child.ask({ op: 'revoke', tenant: 'default', id: entry.id })).reason, 'not_writable');
    const suppressed = await eventually('the notice', async () => (await look()).suppressed[0]);
    assert.match(suppressed, /cannot be written/);
    await child.kill();
    assert.deepEqual(readFileSync(file), before);
    assert.equal(statSync(file).mode & 0o777, 0o400);
  },
);
