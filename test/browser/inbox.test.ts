/** The page Inbox in a real browser: people approve, deny, edit, answer and settle, by pointer and by keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openConsole, openPage } from '../support/browser/console.ts';
import { eventually } from '../support/eventually.ts';

const card = (page: Page) => page.getByRole('article', { name: 'Approval' });
const dialog = (page: Page) => page.getByRole('dialog');

test('a held refund is approved by keys alone, runs exactly once, and the inbox is empty again', async (t) => {
  const { shop, ask, hold, signIn } = await openConsole(t);
  await hold();
  const { page } = await signIn('approver');
  await openPage(page, 'Inbox');
  await card(page).getByText('If approved, the call runs once').waitFor();
  await card(page).getByRole('rowheader', { name: 'amount' }).waitFor();
  assert.match(await page.title(), /^\(1\) Inbox/);
  await page.keyboard.press('a');
  await dialog(page).waitFor();
  assert.equal(shop.done.length, 0, 'the key alone decides nothing');
  await page.keyboard.press('Enter');
  await card(page).getByText('granted').waitFor();
  for (let times = 0; times < 3; times++) await ask('shop/refund', { order: 'ord_1', amount: 90 }, { key: 'once' });
  assert.deepEqual(shop.done, [{ order: 'ord_1', amount: 90 }]);
  await page.getByText('Nothing else waits.').waitFor();
});

test('a refund is denied with a reason, which its agent is told; nothing was sent', async (t) => {
  const { shop, ask, hold, signIn } = await openConsole(t);
  await hold();
  const { page } = await signIn('approver');
  await openPage(page, 'Inbox');
  await card(page).getByRole('button', { name: 'Deny' }).click();
  await dialog(page)
    .getByLabel(/Reason/)
    .fill('too much for a scratch');
  await dialog(page).getByRole('button', { name: 'Deny' }).click();
  await card(page).getByText('too much for a scratch').waitFor();
  const told = JSON.stringify(await ask('shop/refund', { order: 'ord_1', amount: 90 }));
  assert.match(told, /too much for a scratch/);
  assert.deepEqual(shop.done, []);
});

test('edited arguments run in place of those that were asked for; text that is no JSON is not sent', async (t) => {
  const { shop, ask, hold, signIn } = await openConsole(t);
  await hold();
  const { page } = await signIn('approver');
  await openPage(page, 'Inbox');
  await card(page).waitFor();
  await page.keyboard.press('e');
  const field = dialog(page).getByLabel('Arguments, as JSON');
  await field.fill('{ "order": "ord_1", "amount": ');
  await dialog(page).getByText('This is not JSON yet').waitFor();
  assert.equal(await dialog(page).getByRole('button', { name: 'Approve as edited' }).isDisabled(), true);
  await field.fill('{ "order": "ord_1", "amount": 40 }');
  await dialog(page).getByRole('button', { name: 'Approve as edited' }).click();
  await card(page).getByText('granted').waitFor();
  await ask('shop/refund', { order: 'ord_1', amount: 90 });
  assert.deepEqual(shop.done, [{ order: 'ord_1', amount: 40 }]);
});

test('of two approvers at once one decides, and the other is shown how it stands and by whom', async (t) => {
  const { shop, hold, signIn } = await openConsole(t);
  await hold();
  const [one, other] = [await signIn('approver'), await signIn('approver')];
  for (const { page } of [one, other]) {
    await openPage(page, 'Inbox');
    await card(page)
      .getByRole('button', { name: /^Approve/ })
      .click();
    await dialog(page).getByRole('button', { name: 'Approve', exact: true }).waitFor();
  }
  await dialog(one.page).getByRole('button', { name: 'Approve', exact: true }).click();
  await card(one.page).getByText('granted').waitFor();
  await dialog(other.page).getByRole('button', { name: 'Approve', exact: true }).click();
  await card(other.page).getByText('This is how it stands').waitFor();
  await card(other.page).getByText('approver-1').first().waitFor();
  assert.deepEqual(shop.done, []);
});

test('what differs from the last such call is marked, and evidence is read again only when somebody asks', async (t) => {
  const { shop, ask, hold, up, signIn } = await openConsole(t);
  const id = await hold({ order: 'ord_1', amount: 20 });
  await up.ask(`/v1/approvals/${id}/approve`, { key: up.operatorKey(), body: {} });
  await ask('shop/refund', { order: 'ord_1', amount: 20 });
  const { call_id: ref } = await ask('shop/get_order', { order: 'ord_1' });
  await hold({ order: 'ord_1', amount: 90 }, { evidence_refs: [ref] });
  const { page } = await signIn('approver');
  await openPage(page, 'Inbox');
  const changed = card(page).getByRole('row').filter({ hasText: 'amount' });
  await changed.getByText('changed').waitFor();
  assert.match(await changed.innerText(), /90[\s\S]*20/);
  assert.equal(await card(page).getByRole('row').filter({ hasText: 'ord_1' }).getByText('changed').count(), 0);
  shop.order = { order: 'ord_1', total: 91 };
  await card(page).getByText('not read again yet').waitFor();
  await page.keyboard.press('r');
  await card(page).getByText('has changed: the call would not run').waitFor();
});

test('a viewer sees what waits, has no buttons, and the API refuses as well', async (t) => {
  const { hold, signIn } = await openConsole(t);
  const id = await hold();
  const { page } = await signIn('viewer');
  await openPage(page, 'Inbox');
  await card(page).getByText('Your key may look, and not decide.').waitFor();
  assert.equal(await card(page).getByRole('button').count(), 0);
  for (const key of ['a', 'd', 'e']) await page.keyboard.press(key);
  assert.equal(await dialog(page).count(), 0);
  const status = await page.evaluate(
    `fetch('/v1/approvals/${id}/approve', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json',
      'recourse-console': '1' } }).then(({ status }) => status)`,
  );
  assert.equal(status, 403);
});

test('a ticket of a call in doubt is answered, and the call is settled with it', async (t) => {
  const { shop, ask, up, signIn } = await openConsole(t);
  shop.answer('lost');
  const { call_id: call } = await ask('shop/small', { order: 'ord_1', amount: 5 });
  const { page } = await signIn();
  await openPage(page, 'Inbox');
  const ticket = page.getByRole('article', { name: /Ticket|Call in doubt/ });
  await ticket.getByRole('radio', { name: /It happened/ }).check();
  await ticket.getByRole('button', { name: /Send this answer|Settle/ }).click();
  const stateOf = async () => {
    const { body } = await up.ask('/v1/calls?limit=10', { key: up.operatorKey() });
    return (body['calls'] as { call_id: string; state: string }[]).find(({ call_id: id }) => id === call)?.state;
  };
  await eventually('it is settled', async () => (await stateOf()) === 'SUCCEEDED');
  assert.equal(shop.done.length, 1);
});
