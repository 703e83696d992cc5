/** Who is found by which key, and when not any more? On a real file. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { aKeyring, aNewKey, mustOpenKeyring, noon } from '../../../test/support/open-keyring.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { keyRoles } from '../../core/call/identity.ts';
import { keyLimits } from './key-limits.ts';
import { spawnWorker } from './writer-thread.ts';

const hour = 3_600_000;
const because = (reason: string) => ({ name: 'KeyringError', reason });

describe('finding', () => {
  test('a key is its holder, with tenant and role', async (t) => {
    const { keyring } = await aKeyring(t);
    for (const role of keyRoles) {
      const { key, entry } = await keyring.add(aNewKey({ role, name: `a ${role}`, tenant: `of ${role}` }), noon);
      assert.deepEqual(await keyring.find(key, noon), {
        tenant: `of ${role}`,
        role,
        name: `a ${role}`,
        keyId: entry.id,
      });
    }
  });

  test('an unknown id, a wrong secret and no key at all are nobody', async (t) => {
    const { keyring } = await aKeyring(t);
    const [one, two] = [await keyring.add(aNewKey(), noon), await keyring.add(aNewKey({ tenant: 'other' }), noon)];
    const crossed = one.key.slice(0, 20) + two.key.slice(20);
    const unknown = `rk_${'0'.repeat(16)}${one.key.slice(19)}`;
    for (const text of ['', 'rk_', one.entry.id, one.key.toUpperCase(), crossed, unknown])
      assert.equal(await keyring.find(text, noon), null, text);
  });

  test('a key ends at its time, to the millisecond, and not before', async (t) => {
    const { keyring } = await aKeyring(t);
    const { key } = await keyring.add(aNewKey({ expiresAtMs: noon + hour }), noon);
    assert.ok(await keyring.find(key, noon + hour - 1));
    assert.equal(await keyring.find(key, noon + hour), null);
    assert.ok(await keyring.find(key, noon));
  });

  test('a revocation of this process counts at once, one of another process within a second of constant use', async (t) => {
    const { keyring, file, clock } = await aKeyring(t);
    const other = await mustOpenKeyring(t, { file });
    const [here, there] = [await keyring.add(aNewKey(), noon), await keyring.add(aNewKey(), noon)];
    assert.ok(await keyring.find(here.key, noon));
    assert.equal(await keyring.revoke('default', here.entry.id, noon), true);
    assert.equal(await keyring.find(here.key, noon), null);
    assert.ok(await keyring.find(there.key, noon));
    assert.equal(await other.revoke('default', there.entry.id, noon), true);
    let stillFound = 0;
    for (; clock.monotonicMs < keyLimits.foundForMs; clock.monotonicMs += 100)
      if ((await keyring.find(there.key, noon)) !== null) stillFound += 1;
    assert.ok(stillFound > 0, 'what was found a moment ago is not looked up again');
    assert.equal(await keyring.find(there.key, noon), null);
  });

  test('when it was used is written to the minute, later, and never backwards', async (t) => {
    const { keyring, file } = await aKeyring(t);
    const { key } = await keyring.add(aNewKey(), noon);
    const used = async () => (await keyring.list('default'))[0]?.usedAtMs;
    assert.equal(await used(), null);
    await keyring.find(key, noon + 61_500);
    assert.equal(await eventually('the time of use', used), noon + 60_000);
    const early = await mustOpenKeyring(t, { file });
    await early.find(key, noon);
    await early.close();
    assert.equal(await used(), noon + 60_000);
  });
});

describe('rotating', () => {
  test('the holder has another key, and the old one works on for as long as was said', async (t) => {
    const { keyring } = await aKeyring(t);
    const old = await keyring.add(aNewKey({ role: 'approver', tenant: 't' }), noon);
    const fresh = await keyring.rotate('t', old.entry.id, hour, 'bob', noon + 1);
    assert.ok(fresh);
    assert.notEqual(fresh.entry.id, old.entry.id);
    const { id: _, ...rest } = fresh.entry;
    const times = { createdAtMs: noon + 1, expiresAtMs: null, revokedAtMs: null, usedAtMs: null };
    assert.deepEqual(rest, { tenant: 't', role: 'approver', name: 'bot', createdBy: 'bob', ...times });
    assert.ok(await keyring.find(old.key, noon + hour));
    assert.equal(await keyring.find(old.key, noon + hour + 1), null);
    assert.ok(await keyring.find(fresh.key, noon + 2 * hour));
  });

  test('without grace the old key ends at once, whatever the clock does then', async (t) => {
    const { keyring } = await aKeyring(t);
    const old = await keyring.add(aNewKey(), noon);
    assert.ok(await keyring.rotate('default', old.entry.id, 0, 'bob', noon));
    for (const at of [noon, noon - hour]) assert.equal(await keyring.find(old.key, at), null);
  });

  test('grace never makes a key live longer, and a key with an end gets the same time anew', async (t) => {
    const { keyring } = await aKeyring(t);
    const old = await keyring.add(aNewKey({ expiresAtMs: noon + 2 * hour }), noon);
    const fresh = await keyring.rotate('default', old.entry.id, 5 * hour, 'bob', noon + hour);
    assert.equal(fresh?.entry.expiresAtMs, noon + 3 * hour);
    assert.equal(await keyring.find(old.key, noon + 2 * hour), null);
  });

  test('a key that ended, or was rotated before, is not rotated', async (t) => {
    const { keyring } = await aKeyring(t);
    const [revoked, expired, rotated] = [
      await keyring.add(aNewKey(), noon),
      await keyring.add(aNewKey({ expiresAtMs: noon + 1 }), noon),
      await keyring.add(aNewKey(), noon),
    ];
    await keyring.revoke('default', revoked.entry.id, noon);
    await keyring.rotate('default', rotated.entry.id, hour, 'bob', noon);
    for (const { entry } of [revoked, expired, rotated])
      await assert.rejects(keyring.rotate('default', entry.id, 0, 'bob', noon + 1), because('ended'));
    assert.equal((await keyring.list('default')).length, 4);
    assert.ok(await keyring.find(rotated.key, noon), 'a rotation that is refused ends nothing');
  });
});

describe('tenants', () => {
  test('no key of another tenant can be listed, rotated or revoked', async (t) => {
    const { keyring } = await aKeyring(t);
    const { key, entry } = await keyring.add(aNewKey({ tenant: 'a' }), noon);
    assert.deepEqual(await keyring.list('b'), []);
    assert.equal(await keyring.rotate('b', entry.id, 0, 'bob', noon), null);
    assert.equal(await keyring.revoke('b', entry.id, noon), false);
    assert.deepEqual(await keyring.list('a'), [entry]);
    assert.ok(await keyring.find(key, noon));
  });

  test('whoever adds, rotates and revokes what, each key is of one tenant and ends with it', async (t) => {
    const { keyring } = await aKeyring(t);
    const tenant = fc.constantFrom('a', 'b');
    const act = fc.record({ what: fc.constantFrom('add', 'rotate', 'revoke'), tenant, which: fc.nat(20) });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const live = new Map<string, { tenant: string; id: string }>();
        const ended: string[] = [];
        for (const { what, tenant: of, which } of acts) {
          const [key, known] = [...live][which % Math.max(1, live.size)] ?? ['', { tenant: '', id: 'none' }];
          if (what === 'revoke' && (await keyring.revoke(of, known.id, noon))) {
            assert.equal(of, known.tenant);
            live.delete(key);
            ended.push(key);
          }
          const made =
            what === 'add'
              ? await keyring.add(aNewKey({ tenant: of }), noon)
              : what === 'rotate'
                ? await keyring.rotate(of, known.id, 0, 'bob', noon)
                : null;
          if (made === null) continue;
          assert.equal(made.entry.tenant, of);
          if (what === 'rotate') {
            assert.equal(of, known.tenant);
            live.delete(key);
            ended.push(key);
          }
          live.set(made.key, { tenant: of, id: made.entry.id });
        }
        for (const [key, { tenant: of, id }] of live)
          assert.deepEqual(await keyring.find(key, noon), { tenant: of, role: 'agent', name: 'bot', keyId: id });
        for (const key of ended) assert.equal(await keyring.find(key, noon), null);
      }),
      { seed: 4, numRuns: 40 },
    );
  });
});

describe('limits', () => {
  const wrong = {
    'an empty name': { name: '' },
    'a name of 257 characters': { name: 'n'.repeat(257) },
    'a name with a line break': { name: 'a\nb' },
    'a name with a zero': { name: 'a\0b' },
    'a name that turns the line around': { name: 'a\u202eb' },
    'a name with half a character': { name: 'a\ud800' },
    'a name that ends with a space': { name: 'a ' },
    'an empty tenant': { tenant: '' },
    'a tenant with an escape': { tenant: 'a\u001b[31m' },
    'a maker with a line break': { createdBy: 'ann\nroot' },
    'a role that is none': { role: 'root' as never },
    'an end that is over': { expiresAtMs: noon },
    'an end that is no time': { expiresAtMs: Number.NaN },
    'an end in another age': { expiresAtMs: noon + keyLimits.maxLifeMs + 1 },
  };
  for (const [name, over] of Object.entries(wrong))
    test(`${name} is refused`, async (t) => {
      const { keyring } = await aKeyring(t);
      await assert.rejects(keyring.add(aNewKey(over), noon), because('bad_request'));
      assert.deepEqual(await keyring.list('default'), []);
    });

  test('a name of 256 characters of any script is a name', async (t) => {
    const { keyring } = await aKeyring(t);
    const name = 'ключ-鍵-🔑 '.repeat(40).slice(0, 255).trim();
    const { key } = await keyring.add(aNewKey({ name }), noon);
    assert.equal((await keyring.find(key, noon))?.name, name);
  });

  test('grace is not negative and not for ever', async (t) => {
    const { keyring } = await aKeyring(t);
    const { entry } = await keyring.add(aNewKey(), noon);
    for (const graceMs of [-1, 0.5, Number.NaN, keyLimits.maxGraceMs + 1])
      await assert.rejects(keyring.rotate('default', entry.id, graceMs, 'bob', noon), because('bad_request'));
  });

  test('a tenant that is full takes no more, unless a key has ended; others have room', async (t) => {
    const { keyring, file } = await aKeyring(t);
    const { entry } = await keyring.add(aNewKey({ tenant: 'full' }), noon);
    const database = new DatabaseSync(file);
    database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO keys (id, tenant, role, name, hash, created_at, created_by)
         SELECT 'k' || i, 'full', 'agent', 'bot', randomblob(32), ?, 'ann' FROM n`,
      )
      .run(keyLimits.maxKeysOfTenant, noon + 1);
    database.close();
    await assert.rejects(keyring.add(aNewKey({ tenant: 'full' }), noon), because('too_many_keys'));
    await assert.rejects(keyring.rotate('full', entry.id, hour, 'bob', noon), because('too_many_keys'));
    await keyring.add(aNewKey({ tenant: 'other' }), noon);
    await keyring.revoke('full', 'k7', noon);
    const { key } = await keyring.add(aNewKey({ tenant: 'full' }), noon);
    assert.ok(await keyring.find(key, noon));
    const listed = await keyring.list('full');
    assert.equal(listed.length, keyLimits.maxKeysOfTenant);
    assert.ok(!listed.some(({ id }) => id === 'k7'), 'what ended made way');
    await assert.rejects(keyring.add(aNewKey({ tenant: 'full' }), noon), because('too_many_keys'));
  });
});

test('neither the file nor its log ever holds a secret', async (t) => {
  const { keyring, folder } = await aKeyring(t);
  const keys: string[] = [];
  for (let count = 0; count < 20; count++) {
    const { key, entry } = await keyring.add(aNewKey(), noon);
    const fresh = await keyring.rotate('default', entry.id, hour, 'bob', noon);
    keys.push(key, fresh?.key ?? '');
    await keyring.find(key, noon);
  }
  await assert.rejects(keyring.add(aNewKey({ name: '' }), noon));
  const look = () => {
    const names = readdirSync(folder);
    for (const name of names) {
      const bytes = readFileSync(path.join(folder, name));
      for (const key of keys) {
        const secret = key.slice(20);
        for (const form of [secret, Buffer.from(secret, 'base64url'), Buffer.from(secret, 'utf16le')])
          assert.equal(bytes.indexOf(form), -1, `${name} holds a secret`);
      }
    }
    return names.toSorted();
  };
  assert.deepEqual(look(), ['recourse.db.keys', 'recourse.db.keys-shm', 'recourse.db.keys-wal']);
  await keyring.close();
  assert.deepEqual(look(), ['recourse.db.keys']);
});

test('a writer that dies fails what it had, and the next change has another', async (t) => {
  const workers: ReturnType<typeof spawnWorker>[] = [];
  const spawn = (file: string) => {
    workers.push(spawnWorker(file));
    return workers.at(-1) as never;
  };
  const { keyring } = await aKeyring(t, { spawn });
  const { key } = await keyring.add(aNewKey(), noon);
  const lost = keyring.add(aNewKey({ name: 'lost' }), noon);
  // It may have been quick enough; then nothing was lost.
  const ended = lost.then(
    () => null,
    (error: unknown) => error,
  );
  await workers[0]?.terminate();
  const error = await ended;
  if (error !== null) await assert.rejects(lost, because('io'));
  assert.ok(await keyring.find(key, noon));
  await keyring.add(aNewKey({ name: 'next' }), noon);
  assert.equal(workers.length, 2);
});

test('a keyring that is closed says so, and closing twice is closing once', async (t) => {
  const { keyring } = await aKeyring(t);
  const { key, entry } = await keyring.add(aNewKey(), noon);
  await Promise.all([keyring.close(), keyring.close()]);
  const asked = [
    () => keyring.find(key, noon),
    () => keyring.list('default'),
    () => keyring.add(aNewKey(), noon),
    () => keyring.revoke('default', entry.id, noon),
  ];
  for (const ask of asked) await assert.rejects(ask(), because('closed'));
});
