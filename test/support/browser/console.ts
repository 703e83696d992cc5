/** A gateway for the tests of the console: a real `recourse up`, an agent that asks it, and people who sign in. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type GovernedUp, startGoverned } from '../governed-up.ts';
import { newPage, type WatchedPage } from './browser.ts';
import { openRefundService, type RefundService } from './refund-service.ts';

const yamlOf = (url: string) => `tools:
  shop:
    http: { url: ${url} }
    timeout: 60s
    tools:
      get_order: { request: { method: GET, path: '/orders/{order}' }, input: { type: object } }
      refund:
        description: Refunds an order.
        request: { method: POST, path: /refunds }
        input: &money
          type: object
          properties: { order: { type: string }, amount: { type: number } }
          required: [order, amount]
        effect: plain
      small: { request: { method: POST, path: /small }, input: { type: object }, effect: plain }
      forbidden: { request: { method: POST, path: /forbidden }, input: { type: object } }
agents:
  bot:
    default: deny
    rules:
      - permit: [shop/get_order, shop/small]
      - defer: shop/refund
        expires: 1h
        reason: a person looks at refunds
      - deny: shop/forbidden
        reason: nobody may
`;

export interface Console {
  readonly up: GovernedUp;
  readonly shop: RefundService;
  /** A call of the agent. */
  ask(tool: string, args: object, more?: object): Promise<Record<string, unknown>>;
  /** A call that waits for a person; gives the id of the approval. */
  hold(args?: object, more?: object): Promise<string>;
  /** A link that signs in with the role of a new key; the operator's own without one. */
  link(role?: 'viewer' | 'approver'): Promise<string>;
  /** A page on which somebody has signed in. */
  signIn(role?: 'viewer' | 'approver', options?: BrowserContextOptions): Promise<WatchedPage>;
}

export async function openConsole(t: TestContext, yaml: (url: string) => string = yamlOf): Promise<Console> {
  const shop = await openRefundService(t);
  const up = await startGoverned(t, yaml(shop.url));
  await up.ready();
  const botKey = up.keyOf('bot');
  let people = 0;
  const keyOf = (role: 'viewer' | 'approver' | undefined) =>
    role === undefined ? up.operatorKey() : up.keyOf(`${role}-${++people}`, ['--role', role]);
  const console: Console = {
    up,
    shop,
    ask: async (tool, args, more = {}) =>
      (await up.ask('/v1/calls', { key: botKey, body: { tool, args, ...more } })).body,
    async hold(args = { order: 'ord_1', amount: 90 }, more = {}) {
      const { resolution } = await console.ask('shop/refund', args, more);
      const { approval_id: id } = resolution as { readonly approval_id?: string };
      assert.ok(id !== undefined, JSON.stringify(resolution));
      return id;
    },
    async link(role) {
      const { status, body } = await up.ask('/v1/console/links', { key: keyOf(role), body: {} });
      assert.equal(status, 200, JSON.stringify(body));
      return `${up.url}${String(body['path'])}`;
    },
    async signIn(role, options) {
      const watched = await newPage(up.url, options);
      t.after(() => assert.deepEqual(watched.complaints, []));
      await watched.page.goto(await console.link(role));
      await navigation(watched.page).waitFor();
      return watched;
    },
  };
  return console;
}

export const navigation = (page: Page) => page.getByRole('navigation', { name: 'Pages' });

/** Opens a page of the console by its title. */
export async function openPage(page: Page, title: string): Promise<void> {
  await navigation(page).getByRole('link', { name: title }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}
