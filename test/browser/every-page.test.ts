/** What holds on each page of the console: accessible, silent, and only the gateway is asked. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newPage } from '../support/browser/browser.ts';
import { navigation, openPage } from '../support/browser/console.ts';
import { startDemo } from '../support/demo/demo-process.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const titles = ['Live', 'Inbox', 'Sessions', 'Policy', 'Tools', 'Proof'];

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Where a person sees it: everything but what is minor. */
async function violations(page: Page): Promise<readonly string[]> {
  // By the debugger, which the policy of the page does not bind.
  await page.evaluate(`if (window.axe === undefined) { ${axe} }`);
  const found = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as readonly Violation[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical' || impact === 'moderate')
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
}

describe('on each page, from the demo', () => {
  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in the ${colorScheme} theme, and nothing goes wrong`, async (t) => {
      const demo = startDemo(t, ['--fast']);
      const { url, gateway } = await demo.next('its address', ({ event }) => event === 'ready');
      await demo.next('a ticket', ({ outcome }) => outcome === 'escalated');
      const { page, complaints } = await newPage(gateway, { colorScheme });
      await page.goto(url);
      await navigation(page).waitFor();
      const found: Record<string, readonly string[]> = {};
      for (const title of titles) {
        await openPage(page, title);
        found[title] = await violations(page);
      }
      for (const title of titles) assert.deepEqual(found[title], [], title);
      assert.deepEqual(complaints, []);
    });
});

test('a narrow screen scrolls in one direction only', async (t) => {
  const demo = startDemo(t, ['--fast']);
  const { url, gateway } = await demo.next('its address', ({ event }) => event === 'ready');
  await demo.next('a ticket', ({ outcome }) => outcome === 'escalated');
  const { page } = await newPage(gateway, { viewport: { width: 390, height: 800 } });
  await page.goto(url);
  await navigation(page).waitFor();
  for (const title of titles) {
    await openPage(page, title);
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(beyond, 0, `${title} is wider than the screen`);
  }
});

test('the pages are opened by keys alone', async (t) => {
  const demo = startDemo(t, ['--fast']);
  const { url, gateway } = await demo.next('its address', ({ event }) => event === 'ready');
  const { page } = await newPage(gateway);
  await page.goto(url);
  await navigation(page).waitFor();
  for (const [key, title] of [
    ['i', 'Inbox'],
    ['s', 'Sessions'],
    ['v', 'Proof'],
    ['l', 'Live'],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  }
});
