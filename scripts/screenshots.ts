/**
 * Makes the pictures of the console in docs/images: each page, from the demo, light and dark. The demo has real calls,
 * so times and ids differ from run to run.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { needChromium } from './chromium.ts';

const root = path.dirname(import.meta.dirname);
const images = path.join(root, 'docs/images');
/** All pictures together. */
const maxBytes = 3_000_000;
const size = { width: 1_280, height: 800 };
/** Of the story and some turns of the shift, so that there is something to see. */
const eventsBefore = 40;

type Event = Readonly<Record<string, string>>;
interface Shot {
  readonly name: string;
  readonly show: (page: Page, events: readonly Event[]) => Promise<void>;
}

const open = async (page: Page, title: string) => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
};
const callOf = (events: readonly Event[], outcome: string): string =>
  events.find((event) => event['outcome'] === outcome)?.['call_id'] ?? '';

const shots: readonly Shot[] = [
  {
    name: 'live',
    async show(page) {
      await open(page, 'Live');
      await page.getByRole('row').nth(10).waitFor();
    },
  },
  {
    name: 'call',
    async show(page, events) {
      await page.goto(`${new URL(page.url()).origin}/#/calls/${callOf(events, 'retried')}`);
      await page.getByRole('heading', { level: 1, name: 'payments/refund' }).waitFor();
    },
  },
  {
    name: 'inbox',
    async show(page) {
      await open(page, 'Inbox');
      await page
        .getByRole('link', { name: /Approval/ })
        .first()
        .click();
      await page.getByRole('table', { name: 'Arguments of the call' }).waitFor();
    },
  },
  {
    name: 'sessions',
    async show(page) {
      await open(page, 'Sessions');
      await page.getByRole('table', { name: 'Sessions' }).getByRole('link').last().click();
      await page.getByRole('slider').waitFor();
    },
  },
  {
    name: 'policy',
    async show(page) {
      await open(page, 'Policy');
      await page.getByText('payments/refund').first().waitFor();
    },
  },
  {
    name: 'tools',
    async show(page) {
      await open(page, 'Tools');
      await page.getByText('shop/get_order').first().waitFor();
    },
  },
  {
    name: 'proof',
    async show(page) {
      await open(page, 'Proof');
      await page.getByRole('button', { name: 'Verify the journal' }).click();
      await page.getByText('The journal is whole').waitFor();
    },
  },
];

const { path: executablePath, missing } = needChromium({ installs: false });
if (executablePath === undefined) {
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}
mkdirSync(images, { recursive: true });
const command = [path.join(root, 'bin/recourse.js'), 'demo', '--fast', '--json'];
const demo = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
try {
  const events: Event[] = [];
  for await (const line of createInterface({ input: demo.stdout })) {
    events.push(JSON.parse(line) as Event);
    if (events.length >= eventsBefore) break;
  }
  const page = await browser.newPage({ viewport: size, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  await page.goto(events[0]?.['url'] ?? '');
  for (const { name, show } of shots) {
    await show(page, events);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: path.join(images, `${name}-${colorScheme}.png`), animations: 'disabled' });
    }
  }
} finally {
  await browser.close();
  demo.kill('SIGINT');
}
const bytes = readdirSync(images).reduce((sum, name) => sum + statSync(path.join(images, name)).size, 0);
process.stdout.write(`${readdirSync(images).length} pictures, ${Math.ceil(bytes / 1_000)} kB\n`);
if (bytes > maxBytes) {
  process.stderr.write(`they are to be less than ${maxBytes / 1_000} kB together\n`);
  process.exitCode = 1;
}
