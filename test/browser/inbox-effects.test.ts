/** The page Inbox: what becomes of the world by a decision, and what hostile arguments look like. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openConsole, openPage } from '../support/browser/console.ts';
import { hostileTexts, isInert, longText } from '../support/browser/hostile.ts';
import { eventually } from '../support/eventually.ts';

/** Presses the button of a decision and then that of its dialog. */
async function decide(page: Page, name: RegExp, confirm: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
}

async function openItem(page: Page, kind: 'Approval' | 'Ticket'): Promise<void> {
  await openPage(page, 'Inbox');
  await page.getByRole('article', { name: kind }).waitFor();
}

test('a held refund is approved, and the agent runs it exactly once, however often it asks', async (t) => {
  const { ask, hold, shop, signIn } = await openConsole(t);
  await hold();
  assert.equal(shop.done.length, 0);
  const { page } = await signIn('approver');
  await openItem(page, 'Approval');
  await page.getByRole('table', { name: 'Arguments of the call' }).getByText('ord_1').waitFor();
  await decide(page, /^Approve/, 'Approve');
  await page.getByRole('article').getByText('granted', { exact: true }).waitFor();
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => ask('shop/refund', { order: 'ord_1', amount: 90 })),
  );
  assert.equal(replies.filter((reply) => 'result' in reply).length, 1);
  assert.deepEqual(shop.done, [{ order: 'ord_1', amount: 90 }]);
});

test('a ticket is answered: the refund that was forbidden runs again, once', async (t) => {
  const { ask, shop, signIn } = await openConsole(t);
  shop.answer('forbidden');
  await ask('shop/small', { order: 'ord_1' });
  shop.answer('done');
  const { page } = await signIn();
  await openItem(page, 'Ticket');
  await page.getByRole('radio', { name: /^Run it again/ }).check();
  await page.getByLabel('Note, for the record').fill('the account is open again');
  await page.getByRole('button', { name: 'Send this answer' }).click();
  await page
    .getByRole('article')
    .getByText(/^closed/)
    .waitFor();
  await eventually('the refund', async () => shop.done.length > 0);
  assert.deepEqual(shop.done, [{ order: 'ord_1' }]);
});

test('names and values of arguments are text, and cannot be taken for a part of the page', async (t) => {
  const { hold, signIn } = await openConsole(t);
  const texts = Object.fromEntries(hostileTexts.map(({ name, text }) => [name, text]));
  const names = Object.fromEntries(hostileTexts.map(({ text }) => [text, 'a name']));
  await hold({ order: 'ord_1', amount: 1, ...texts, names, long: longText });
  const { page } = await signIn();
  await openItem(page, 'Approval');
  const table = page.getByRole('table', { name: 'Arguments of the call' });
  for (const { shown } of hostileTexts) await table.getByText(shown).first().waitFor();
  await isInert(page);
  assert.equal(await page.getByText(longText).count(), 0, 'it is not shown whole');
  // A row is an argument: what has line ends in it is still one.
  const rows = await table.getByRole('rowheader').count();
  assert.equal(rows, 3 + hostileTexts.length * 2);
  await page.getByRole('button', { name: /^Edit and approve/ }).click();
  await page.getByRole('dialog').getByLabel('Arguments').waitFor();
  await isInert(page);
});
