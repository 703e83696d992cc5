/** A real Chromium for the tests of the console: one for each file of tests, and a fresh profile for each page. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../../scripts/chromium.ts';

/** No service of the browser's maker is asked for anything. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Ends what would never end: the machine may be busy. */
export const ceilingMs = 60_000;

let browser: Promise<Browser> | undefined;

export function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  assert.ok(executablePath !== null, 'there is no Chromium: npm run test:browser installs it, or set CHROMIUM_PATH');
  browser ??= chromium.launch({ executablePath, args: flags, timeout: ceilingMs });
  return browser;
}

after(async () => (await browser)?.close());

export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts, violations of the policy of the page, and requests to others than the gateway. */
  readonly complaints: readonly string[];
}

/** In a profile of its own: it shares no cookie with any other. */
export async function newPage(origin: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await (await openBrowser()).newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
  context.setDefaultTimeout(ceilingMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The browser reports answers that are no success here; whether they should be is for the test to say.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) complaints.push(`request to ${asked}`);
  });
  return { page, complaints };
}
