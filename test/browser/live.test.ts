/** The page Live: decisions as they happen, filtered, paused, and opened. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openConsole } from '../support/browser/console.ts';
import { eventually } from '../support/eventually.ts';

const rowsOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

test('calls appear while somebody looks, filtered by what is asked for, and a click opens one', async (t) => {
  const { ask, hold, signIn } = await openConsole(t);
  const { page } = await signIn();
  await page.getByText('No calls yet').waitFor();
  await ask('shop/get_order', { order: 'ord_1' });
  await rowsOf(page, 'shop/get_order').waitFor();
  await ask('shop/forbidden', { n: 1 });
  await rowsOf(page, 'POLICY_DENY').waitFor();
  await hold();
  await rowsOf(page, 'shop/refund').waitFor();

  await page.getByLabel('Outcome').selectOption({ label: 'Denied' });
  await rowsOf(page, 'shop/get_order').waitFor({ state: 'detached' });
  assert.equal(await rowsOf(page, 'shop/forbidden').count(), 1);
  assert.match(page.url(), /state=DENIED/, 'a link shows the same');
  await page.getByRole('button', { name: 'clear' }).click();
  await page.getByLabel('Search').fill('get_ord');
  await rowsOf(page, 'shop/forbidden').waitFor({ state: 'detached' });
  await page.getByLabel('Search').fill('');
  await page.getByLabel('Tool').selectOption('shop/forbidden');
  await page.getByText('1 call', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'shop/forbidden' }).click();
  await page.waitForURL(/#\/calls\/call_/);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
});

test('while it is paused nothing moves, and what was missed comes when it goes on', async (t) => {
  const { ask, signIn } = await openConsole(t);
  const { page } = await signIn();
  await ask('shop/get_order', { order: 'ord_1' });
  await rowsOf(page, 'shop/get_order').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await ask('shop/forbidden', {});
  const resume = page.getByRole('button', { name: /Resume \(\d+ new\)/ });
  await resume.waitFor();
  assert.equal(await rowsOf(page, 'shop/forbidden').count(), 0);
  await resume.click();
  await rowsOf(page, 'shop/forbidden').waitFor();
});

test('a long list scrolls down and up again, and what is looked at stays when calls come in above it', async (t) => {
  const { ask, signIn } = await openConsole(t);
  for (let n = 0; n < 60; n++) await ask('shop/forbidden', { n });
  const { page } = await signIn();
  await page.getByText('60 calls').waitFor();
  const top = async () => Number(await page.evaluate(`document.querySelector('[role=rowgroup][tabindex]').scrollTop`));
  const wheel = async (pixels: number) => {
    const before = await top();
    await page.mouse.wheel(0, pixels);
    await eventually('it has scrolled', async () => (await top()) !== before);
  };
  await rowsOf(page, 'shop/forbidden').first().hover();
  await wheel(600);
  await wheel(300);
  await wheel(-300);
  assert.equal(await top(), 600);
  await ask('shop/get_order', { order: 'ord_1' });
  await page.getByText('61 calls').waitFor();
  await eventually('one row more is above', async () => (await top()) === 636);
  await wheel(-636);
  await rowsOf(page, 'shop/get_order').waitFor();
});
