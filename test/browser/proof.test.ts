/** The page Proof: the journal is verified in the browser itself, and a record that was tampered with is named. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { epochStride } from '../../src/adapters/store-sqlite/file/schema.ts';
import { openConsole, openPage } from '../support/browser/console.ts';
import { storeIn } from '../support/recourse-process.ts';

async function verify(page: Page): Promise<void> {
  await openPage(page, 'Proof');
  await page.getByRole('button', { name: 'Verify the journal' }).click();
}

test('a whole journal verifies, and the head is shown', async (t) => {
  const { ask, signIn } = await openConsole(t);
  for (let n = 0; n < 20; n++) await ask('shop/get_order', { order: `ord_${n}` });
  const { page } = await signIn('viewer');
  await verify(page);
  await page.getByText('The journal is whole').waitFor();
  assert.match(await page.locator('.hash').innerText(), /^[0-9a-f]{64}$/);
});

test('a record that was changed in the file is found by this browser, which names the first', async (t) => {
  const { ask, signIn, up } = await openConsole(t);
  for (let n = 0; n < 5; n++) await ask('shop/get_order', { order: `ord_${n}` });
  const { page } = await signIn();
  const database = new DatabaseSync(storeIn(up.home), { timeout: 60_000 });
  const { at, header } = database.prepare('SELECT at, header FROM journal ORDER BY at LIMIT 1 OFFSET 4').get() as {
    readonly at: number;
    readonly header: Uint8Array;
  };
  const changed = Buffer.from(header);
  changed[changed.length - 3] = (changed.at(-3) ?? 0) ^ 1;
  database.prepare('UPDATE journal SET header = ? WHERE at = ?').run(changed, at);
  database.close();
  await verify(page);
  await page.getByText('The journal was changed').waitFor();
  await page
    .getByRole('alert')
    .getByText(`First bad record: ${Math.floor(at / epochStride)}.${at % epochStride}`)
    .waitFor();
});
