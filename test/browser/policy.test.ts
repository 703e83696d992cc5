/** The page Policy in a real browser: the file with what its rules decided, and what would be decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsole, openPage } from '../support/browser/console.ts';

test('each rule is marked with how often it decided, and lines of other sections are not shown', async (t) => {
  const { ask, hold, signIn } = await openConsole(t);
  await ask('shop/get_order', { order: 'ord_1' });
  await hold();
  await ask('shop/forbidden', {});
  const { page } = await signIn('viewer');
  await openPage(page, 'Policy');
  const line = (text: string) => page.getByRole('row').filter({ hasText: text });
  await line('- permit: [shop/get_order').getByText('1 ran').waitFor();
  await line('- defer: shop/refund').getByText('1 deferred').waitFor();
  await line('- deny: shop/forbidden').getByText('1 denied').waitFor();
  assert.equal(
    await page.getByText('127.0.0.1').count(),
    0,
    'the address of a server is in a section that is left out',
  );
  await page
    .getByText(/lines of other sections are not shown/)
    .first()
    .waitFor();
});

test('what if: a call in, the ladder out, and nothing was sent', async (t) => {
  const { shop, signIn } = await openConsole(t);
  const { page } = await signIn('viewer');
  await openPage(page, 'Policy');
  const box = page.getByRole('region', { name: 'What if' });
  await box.getByLabel('Agent').fill('bot');
  await box.getByLabel('Tool').fill('shop/forbidden');
  await box.getByRole('button', { name: 'Ask' }).click();
  await box.getByText('It would be refused').waitFor();
  await box.getByRole('listitem').filter({ hasText: 'policy' }).getByText('refused').first().waitFor();
  await box.getByLabel('Tool').fill('shop/refund');
  await box.getByLabel('Arguments, as JSON').fill('{ "order": "ord_1", "amount": 1 }');
  await box.getByRole('button', { name: 'Ask' }).click();
  await box.getByText('It would wait for a person').waitFor();
  assert.deepEqual(shop.done, []);
});
