/** Signing in to the console in a real browser: the link, the key, the cookie, and what keeps other pages out. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { newPage } from '../support/browser/browser.ts';
import { navigation, openConsole } from '../support/browser/console.ts';

test('a link signs in once; its code leaves the address, and the cookie cannot be read by a script', async (t) => {
  const { up, link } = await openConsole(t);
  const { page, complaints } = await newPage(up.url);
  const address = await link();
  await page.goto(address);
  await navigation(page).waitFor();
  assert.ok(!page.url().includes('signin'), page.url());
  assert.equal(await page.evaluate('document.cookie'), '');
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.deepEqual(
    cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })),
    [{ httpOnly: true, sameSite: 'Strict' }],
  );
  assert.deepEqual(complaints, []);

  const other = await newPage(up.url);
  await other.page.goto(address);
  await other.page.getByRole('heading', { name: 'Sign in to Recourse' }).waitFor();
  await other.page.getByRole('alert').waitFor();
  await page.reload();
  await navigation(page).waitFor();
});

test('a key of a person signs in, one of an agent does not, and signing out ends it', async (t) => {
  const { up } = await openConsole(t);
  const { page } = await newPage(up.url);
  await page.goto(up.url);
  const field = page.getByLabel(/paste the key/);
  await field.fill(up.keyOf('bot'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await field.fill(up.keyOf('vera', ['--role', 'viewer']));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await navigation(page).waitFor();
  await page.getByText('vera').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Recourse' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Recourse' }).waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

test('no other site can frame it, or write with the cookie of somebody who has signed in', async (t) => {
  const { up, hold, signIn } = await openConsole(t);
  const { page } = await signIn();
  const approval = await hold();
  const attack = `<!doctype html><title>other</title><iframe src="${up.url}/"></iframe>
    <form method="post" action="${up.url}/v1/approvals/${approval}/approve" enctype="text/plain"
      target="answer"><input name='{"shown":null,"x":"' value='"}'></form><iframe name="answer"></iframe>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(attack);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // Of the same site, so that even a strict cookie goes along.
  const evil = await page.context().newPage();
  await evil.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const [, framed] = evil.frames();
  assert.ok(framed !== undefined && !framed.url().startsWith(up.url), `it is framed: ${framed?.url()}`);
  const answered = evil.waitForResponse((response) => response.url().endsWith('/approve'));
  await evil.evaluate('document.forms[0].submit()');
  assert.ok((await answered).status() >= 400);
  const sent = await evil.evaluate(`fetch('${up.url}/v1/approvals/${approval}/approve', {
    method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}',
  }).then(({ status }) => status, () => 'refused')`);
  assert.ok(sent === 'refused' || Number(sent) >= 400, String(sent));
  const { body } = await up.ask(`/v1/approvals/${approval}`, { key: up.operatorKey() });
  assert.equal(body['state'], 'pending');
});

test('the cookie alone opens nothing: each request must say that it is of the console', async (t) => {
  const { up, signIn } = await openConsole(t);
  const { page } = await signIn();
  const status = (headers: object) =>
    page.evaluate(`fetch('/v1/status', { headers: ${JSON.stringify(headers)} }).then(({ status }) => status)`);
  assert.equal(await status({}), 401);
  assert.equal(await status({ 'recourse-console': '1' }), 200);
  const answer = await fetch(`${up.url}/`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(part));
  assert.ok(!policy.includes('unsafe'));
  assert.equal(await page.locator('script:not([src])').count(), 0);
});
