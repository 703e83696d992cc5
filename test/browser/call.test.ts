/** The page of a call: why it was decided so, what was sent and told, and what can be done with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsole } from '../support/browser/console.ts';
import { hostileTexts, isInert, longText } from '../support/browser/hostile.ts';

test('a refusal shows the gate that said no, and the rule at its line', async (t) => {
  const { ask, signIn, up } = await openConsole(t);
  const { call_id: call } = await ask('shop/forbidden', { order: 'ord_7' });
  const { page } = await signIn('viewer');
  await page.goto(`${up.url}/#/calls/${String(call)}`);
  await page.getByRole('heading', { level: 1, name: 'shop/forbidden' }).waitFor();
  await page.getByText('ord_7').first().waitFor();
  await page.getByText('deny: shop/forbidden').first().waitFor();
  await page.getByText('POLICY_DENY').first().waitFor();
});

test('a doubt is settled from its page by an admin alone, once', async (t) => {
  const { ask, shop, signIn, up } = await openConsole(t);
  shop.answer('lost');
  const { call_id: call } = await ask('shop/small', { order: 'ord_1' });
  assert.equal(shop.done.length, 1);
  const viewer = await signIn('viewer');
  await viewer.page.goto(`${up.url}/#/calls/${String(call)}`);
  await viewer.page.getByText('In doubt', { exact: true }).first().waitFor();
  assert.equal(await viewer.page.getByRole('button', { name: /Settle/ }).count(), 0);
  const { page } = await signIn();
  await page.goto(`${up.url}/#/calls/${String(call)}`);
  await page.getByRole('button', { name: 'Settle…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^It happened/ }).check();
  await dialog.getByRole('button', { name: 'Settle' }).click();
  await page.getByText('Succeeded', { exact: true }).first().waitFor();
  assert.equal(shop.done.length, 1, 'nothing was sent again');
});

test('arguments and results of others are text, their names too, and what is long is cut', async (t) => {
  const { ask, shop, signIn, up } = await openConsole(t);
  const texts = Object.fromEntries(hostileTexts.map(({ name, text }) => [name, text]));
  const names = Object.fromEntries(hostileTexts.map(({ text }) => [text, 'a name']));
  shop.order = { ...texts, names, long: longText };
  const { call_id: call } = await ask('shop/get_order', { order: 'ord_1', ...texts, names, long: longText });
  const { page } = await signIn();
  await page.goto(`${up.url}/#/calls/${String(call)}`);
  await page.getByRole('heading', { level: 1, name: 'shop/get_order' }).waitFor();
  for (const { shown } of hostileTexts) await page.getByText(shown).first().waitFor();
  await isInert(page);
  assert.equal(await page.getByText(longText).count(), 0, 'it is not shown whole');
  await page.getByRole('button', { name: 'as JSON' }).first().click();
  await page.getByRole('button', { name: 'as a table' }).first().waitFor();
  await isInert(page);
});
