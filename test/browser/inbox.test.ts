/** The page Inbox: people decide, and what they decide happens once; two of them at once see the truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, openConsole, openPage } from '../support/browser/console.ts';
import { hostileTexts, isInert, longText } from '../support/browser/hostile.ts';
import { eventually } from '../support/eventually.ts';

/** Presses the button of a decision and then that of its dialog. */
async function decide(page: Page, name: RegExp, confirm: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
}

async function openItem(page: Page, kind: 'Approval' | 'Ticket' | 'Call in doubt'): Promise<void> {
  await openPage(page, 'Inbox');
  await page.getByRole('article', { name: kind }).waitFor();
}

const stateOf = async ({ up }: Console, approval: string) =>
  (await up.ask(`/v1/approvals/${approval}`, { key: up.operatorKey() })).body['state'];

test('a held refund is approved, and the agent runs it exactly once, however often it asks', async (t) => {
  const console = await openConsole(t);
  const { ask, hold, shop, signIn } = console;
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

test('a refund is denied with a reason, and the agent hears it', async (t) => {
  const { ask, hold, shop, signIn } = await openConsole(t);
  await hold();
  const { page } = await signIn('approver');
  await openItem(page, 'Approval');
  await page.getByRole('button', { name: /^Deny/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Reason/).fill('the photos show another grinder');
  await dialog.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.getByRole('article').getByText('denied', { exact: true }).waitFor();
  const reply = await ask('shop/refund', { order: 'ord_1', amount: 90 });
  assert.match(JSON.stringify(reply), /the photos show another grinder/);
  assert.deepEqual(shop.done, []);
});

test('a refund is edited and approved: what runs is what was edited', async (t) => {
  const { ask, hold, shop, signIn } = await openConsole(t);
  await hold();
  const { page } = await signIn('approver');
  await openItem(page, 'Approval');
  await page.getByRole('button', { name: /^Edit and approve/ }).click();
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Arguments');
  await field.fill('{"order": "ord_1"');
  assert.ok(
    await dialog.getByRole('button', { name: 'Approve as edited' }).isDisabled(),
    'what is no JSON is not sent',
  );
  await field.fill('{"order": "ord_1", "amount": 45}');
  await dialog.getByRole('button', { name: 'Approve as edited' }).click();
  await page.getByRole('article').getByText('granted', { exact: true }).waitFor();
  await ask('shop/refund', { order: 'ord_1', amount: 90 });
  assert.deepEqual(shop.done, [{ order: 'ord_1', amount: 45 }]);
});

test('of two who decide at once one does, and the other sees who did', async (t) => {
  const console = await openConsole(t);
  const approval = await console.hold();
  const [first, second] = [await console.signIn('approver'), await console.signIn('approver')];
  for (const { page } of [first, second]) await openItem(page, 'Approval');
  // Both dialogs are open before either is confirmed.
  await first.page.getByRole('button', { name: /^Approve/ }).click();
  await second.page.getByRole('button', { name: /^Deny/ }).click();
  const denial = second.page.getByRole('dialog');
  await denial.getByLabel(/^Reason/).fill('too much');
  await first.page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await first.page.getByRole('article').getByText('granted', { exact: true }).waitFor();
  await denial.getByRole('button', { name: 'Deny', exact: true }).click();
  await second.page.getByText('granted').first().waitFor();
  await second.page.getByText('approver-1').first().waitFor();
  assert.equal(await stateOf(console, approval), 'granted');
});

test('a viewer has no buttons, and calling the API does not help', async (t) => {
  const console = await openConsole(t);
  const approval = await console.hold();
  const { page } = await console.signIn('viewer');
  await openItem(page, 'Approval');
  for (const name of [/^Approve/, /^Deny/, /^Edit/]) assert.equal(await page.getByRole('button', { name }).count(), 0);
  await page.keyboard.press('a');
  assert.equal(await page.getByRole('dialog').count(), 0);
  for (const verb of ['approve', 'deny', 'revoke']) {
    const status = await page.evaluate(`fetch('/v1/approvals/${approval}/${verb}', {
      method: 'POST', body: '{"reason":"me"}',
      headers: { 'content-type': 'application/json', 'recourse-console': '1' },
    }).then(({ status }) => status)`);
    assert.equal(status, 403, verb);
  }
  assert.equal(await stateOf(console, approval), 'pending');
});

test('by keys alone: choose, open, confirm; and a stray key decides nothing', async (t) => {
  const console = await openConsole(t);
  const approval = await console.hold();
  const { page } = await console.signIn('approver');
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.keyboard.press('j');
  await page.getByRole('article', { name: 'Approval' }).waitFor();
  await page.getByRole('button', { name: /^Approve/ }).waitFor();
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  assert.equal(await stateOf(console, approval), 'pending', 'nothing is decided without a confirmation');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('article').getByText('granted', { exact: true }).waitFor();
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

test('a call in doubt is settled by an admin, and nothing is sent again', async (t) => {
  const { ask, shop, signIn, up } = await openConsole(t);
  shop.answer('lost');
  const { call_id: call } = await ask('shop/small', { order: 'ord_1' });
  const { page } = await signIn();
  await openPage(page, 'Inbox');
  await page.getByRole('radio', { name: /^It happened/ }).check();
  await page.getByRole('button', { name: /^(?:Settle|Send this)/ }).click();
  await eventually('it is settled', async () => {
    const { body } = await up.ask(`/v1/calls/${String(call)}`, { key: up.operatorKey() });
    return 'result' in body;
  });
  assert.equal(shop.done.length, 1);
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
