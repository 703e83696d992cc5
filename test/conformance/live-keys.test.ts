/**
 * CONTRACT section 9: in whatever form a tool gives a live key of the gateway, it is masked in the reply and on record.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolFailure } from '../../src/index.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { aKey, bytesOf } from '../support/live-key.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool } from '../support/tools.ts';

test('[C9-keys-1] a live key is masked in what objects say of themselves as JSON', async (t) => {
  const { key, shown, secret, close } = await aKey(t);
  const gateway = await openGateway(t, [
    aTool('address', () => ({ u: new URL(`http://x/?k=${key}`) })),
    aTool('boxed', () => ({ text: new String(key) })),
  ]);
  const address = successOf(await gateway.call({ tool: 'address' }));
  assert.deepEqual(address.result, { u: `http://x/?k=${shown}` });
  assert.deepEqual(successOf(await gateway.call({ tool: 'boxed' })).result, { text: shown });
  await gateway.close();
  assert.ok(!bytesOf(gateway.file).includes(secret));
  await close();
});

test('[C9-keys-1] a live key is masked wherever its parts stand in one result or failure', async (t) => {
  const { key, id, secret, close } = await aKey(t);
  const [front, half, rest] = [`rk_${id}_`, key.slice(0, 40), key.slice(40)];
  const results: Readonly<Record<string, unknown>> = {
    members: { a: front, b: secret },
    'cut members': { a: half, b: rest },
    blanks: `${front}\n${' '.repeat(12)}${secret}`,
    lines: `1\t${front}\n2\t${secret}`,
    dashes: `-${front}\n-${secret}`,
    sums: `"${half}" +\n"${rest}"`,
    items: [`1: ${front}`, `2: ${secret}`],
    json: JSON.stringify(JSON.stringify(`${half}\n${rest}`)),
  };
  const fail = () => {
    throw new ToolFailure({ kind: 'threw', name: front, message: `no ${secret}` });
  };
  const tools = Object.entries(results).map(([name, result]) => aTool(name.replace(' ', '_'), () => result));
  const gateway = await openGateway(t, [...tools, aTool('fails', fail)]);
  for (const { name } of [...tools, { name: 'fails' }]) {
    const shown = JSON.stringify(await gateway.call({ tool: name }));
    assert.ok(!shown.includes(secret) && !shown.includes(rest), `${name}: ${shown}`);
  }
  const told = gateway.notices.flatMap((notice) => (notice.kind === 'key_masked' ? notice.keyIds : []));
  assert.deepEqual(told, Array(tools.length + 1).fill(id));
  await gateway.close();
  assert.ok(!bytesOf(gateway.file).includes(secret) && !bytesOf(gateway.file).includes(rest));
  await close();
});

test('[C9-keys-1] a live key is masked in UTF-16 and in bytes', async (t) => {
  const { key, shown, secret, close } = await aKey(t);
  const wide = [...key].join('\0');
  const gateway = await openGateway(t, [
    aTool('text', () => `\uFFFD\uFFFD${wide}\0`),
    aTool('json', () => JSON.stringify({ file: wide })),
    aTool('base64', () => ({ blob: Buffer.from(`\uFEFF${key}\n`, 'utf16le').toString('base64') })),
    aTool('bytes', () => ({ file: Buffer.from(`${key}\n`), raw: new Uint8Array(Buffer.from(key)) })),
    aTool('wide_bytes', () => [Buffer.from(key, 'utf16le')]),
  ]);
  const resultOf = async (tool: string) => successOf(await gateway.call({ tool })).result;
  assert.equal(await resultOf('text'), `\uFFFD\uFFFD${shown}\0`);
  assert.equal(await resultOf('json'), JSON.stringify({ file: shown }));
  const { blob } = (await resultOf('base64')) as { blob: string };
  assert.ok(Buffer.from(blob, 'base64').toString().includes(shown));
  const bytes = (await resultOf('bytes')) as { file: { data: number[] }; raw: object };
  assert.equal(Buffer.from(bytes.file.data).toString(), `${shown}\n`);
  assert.equal(Buffer.from(Object.values(bytes.raw)).toString(), shown);
  const [wideBytes] = (await resultOf('wide_bytes')) as [{ data: number[] }];
  assert.equal(Buffer.from(wideBytes.data).toString(), `${shown}\0`);
  await gateway.close();
  assert.ok(!bytesOf(gateway.file).replaceAll('\0', '').includes(secret));
  await close();
});

test('[C9-keys-1] only keys that exist are named, at most twenty, whatever a tool makes up', async (t) => {
  const { key, another, close } = await aKey(t);
  const keys = [key, ...(await Promise.all(Array.from({ length: 21 }, another)))];
  const madeUp = Array.from({ length: 3_000 }, (_, n) => `rk_${String(n).padStart(16, '0')}_A`);
  const gateway = await openGateway(t, [
    aTool('flood', () => [key, ...madeUp]),
    aTool('many', () => keys),
    aTool('none', () => madeUp.slice(0, 900)),
  ]);
  const flood = successOf(await gateway.call({ tool: 'flood' }));
  const many = successOf(await gateway.call({ tool: 'many' }));
  await gateway.call({ tool: 'none' });
  assert.ok((flood.result as string[]).every((text) => text.endsWith('…masked')));
  const told = gateway.notices.flatMap((notice) => (notice.kind === 'key_masked' ? [notice] : []));
  const ids = keys.map((each) => each.slice('rk_'.length, 'rk_'.length + 16));
  assert.deepEqual(
    told.map(({ keyIds, more }) => [keyIds, more]),
    [
      [ids.slice(0, 1), 2_001],
      [ids.slice(0, 20), 2],
    ],
  );
  const recorded = async (callId: string) =>
    (await gateway.records(callId)).find(({ kind }) => kind === 'key_masked')?.body ?? null;
  await eventually('the records', async () => (await recorded(flood.call_id)) && (await recorded(many.call_id)));
  const { key_ids, more } = JSON.parse(String(await recorded(flood.call_id))) as Record<string, unknown>;
  assert.deepEqual([key_ids, more], [ids.slice(0, 1), 2_001]);
  await close();
});
