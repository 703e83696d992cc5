/** Texts of tools, agents and arguments on the pages of the console: shown as text, whatever they want to be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsole } from '../support/browser/console.ts';
import { hostileTexts, isInert } from '../support/browser/hostile.ts';

test('on the page Live, the name of a tool that an agent made up is text', async (t) => {
  const { ask, signIn } = await openConsole(t);
  const { page } = await signIn();
  for (const { name, text, shown } of hostileTexts) {
    await ask(text, {});
    await page.getByRole('row').filter({ hasText: shown }).waitFor();
    await isInert(page);
    assert.equal(await page.getByRole('row').filter({ hasText: shown }).count(), 1, `${name} is one row`);
  }
  // What cannot be seen is spelled out, and marked as not being the text itself.
  assert.ok((await page.locator('.unseen', { hasText: '202' }).count()) > 0);
});
