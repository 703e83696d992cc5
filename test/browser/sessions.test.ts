/** The page Sessions in a real browser: the machine with where a session stands, and its history to scrub through. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openConsole, openPage } from '../support/browser/console.ts';

const withWorkflow = (url: string) => `tools:
  shop:
    http: { url: ${url} }
    tools:
      small: { request: { method: POST, path: /small }, input: { type: object }, effect: plain }
workflows:
  parcel:
    initial: preparing
    context: { note: "" }
    states:
      preparing:
        initial: paid
        states:
          paid: { on: { pick: picked } }
          picked: { on: { pack: packed } }
          packed: {}
        on: { drop: dropped }
      dropped: { type: final }
    actions:
      pick: { tool: shop/small }
      pack: { tool: shop/small }
      drop: { tool: shop/small }
agents:
  bot: { default: permit }
`;

async function walked(t: TestContext) {
  const opened = await openConsole(t, withWorkflow);
  const key = opened.up.keyOf('bot');
  const { body } = await opened.up.ask('/v1/sessions', { key, body: { workflow: 'parcel' } });
  const session = String(body['session']);
  const step = (action: string) => opened.up.ask(`/v1/sessions/${session}/steps`, { key, body: { action } });
  await step('pack');
  await step('pack');
  await step('pick');
  await step('pack');
  return { ...opened, session };
}

async function openSession(page: Page, session: string): Promise<void> {
  await openPage(page, 'Sessions');
  await page.getByRole('link', { name: session.slice(0, 20) }).click();
  await page.getByRole('heading', { level: 1, name: 'Session' }).waitFor();
}

const standsIn = (page: Page, state: string) => page.getByRole('img', { name: new RegExp(`active: .*${state}$`) });

test('the machine shows where the session stands, and what was refused how often; keys scrub through its history', async (t) => {
  const { session, signIn } = await walked(t);
  const { page } = await signIn('viewer');
  await openSession(page, session);
  await standsIn(page, 'preparing.packed').waitFor();
  const refused = page.getByRole('table', { name: 'What was refused' }).getByRole('row').filter({ hasText: 'pack' });
  assert.match(await refused.innerText(), /preparing\.paid\s+InvalidTransition\s+2/);
  await page.keyboard.press('Home');
  await standsIn(page, 'preparing.paid').waitFor();
  await page.getByText('session opened').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByText('refused (InvalidTransition)').waitFor();
  for (let times = 0; times < 2; times++) await page.keyboard.press('ArrowRight');
  await standsIn(page, 'preparing.picked').waitFor();
  await page.keyboard.press('End');
  await standsIn(page, 'preparing.packed').waitFor();
  assert.equal(await page.getByRole('button', { name: /Fork|Reset|Complete/ }).count(), 0, 'a viewer has no buttons');
});

test('an admin forks a session at a past step, and resets it', async (t) => {
  const { session, signIn } = await walked(t);
  const { page } = await signIn();
  await openSession(page, session);
  await standsIn(page, 'preparing.packed').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: 'Fork at step 1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Fork at step 1' }).click();
  await page.getByText('The fork is').waitFor();
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
  await standsIn(page, 'preparing.paid').waitFor();
  await page.getByText('The fork is').getByRole('link').click();
  await standsIn(page, 'preparing.picked').waitFor();
});

test('an admin rolls a session back: what cannot be undone is told, call by call', async (t) => {
  const { session, signIn } = await walked(t);
  const { page } = await signIn();
  await openSession(page, session);
  await standsIn(page, 'preparing.packed').waitFor();
  await page.getByRole('button', { name: 'Roll back' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  const calls = page.getByRole('list', { name: 'Calls that are undone' });
  await calls.getByText('no reversal').first().waitFor();
  assert.equal(await calls.getByRole('listitem').count(), 2);
});
