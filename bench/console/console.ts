/**
 * The console in a real browser: how soon it can be used, how long its longest task is while decisions stream in, and
 * how a table of a hundred thousand rows scrolls. Medians and their spread; sets no bar.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { median, type Row } from '../measure.ts';
import { startUp, type Up } from '../up/start-up.ts';
import { serveTable } from './serve-table.ts';
import { type Streamed, streamDecisions } from './stream.ts';
import { type Figures, openBrowser, openPage, readFigures } from './watch-page.ts';

const rounds = 5;
const perSecond = 500;
const streamSeconds = 10;
const wheelSteps = 200;
const stepPixels = 2_000;
const frameMs = 1_000 / 60;

export async function benchConsole(folder: string): Promise<readonly Row[]> {
  const shop = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"read":true}');
  });
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const home = path.join(folder, 'home');
  mkdirSync(path.join(home, 'store'), { recursive: true, mode: 0o700 });
  const table = await serveTable(path.join(folder, 'table'));
  const up = await startUp(home, configOf((shop.address() as AddressInfo).port));
  const browser = await openBrowser();
  try {
    const page = await openPage(browser);
    await page.goto(up.link);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return [await firstUse(page, up), ...(await streaming(page, up)), ...(await scrolling(page, table.url))];
  } finally {
    await browser.close();
    await up.stop();
    table.stop();
    shop.close();
    shop.closeAllConnections();
  }
}

const configOf = (port: number): string => `tools:
  shop:
    http: { url: "http://127.0.0.1:${port}" }
    tools:
      read: { request: { method: GET, path: /read }, input: { type: object } }
      write: { request: { method: POST, path: /write }, input: { type: object } }
agents:
  bench: { default: deny, rules: [{ permit: shop/read }] }
`;

async function firstUse(page: Page, up: Up): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.goto('about:blank');
    await page.goto(`${originOf(up)}/#/live`);
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
    await settled(page);
    times.push((await readFigures(page)).interactiveMs);
  }
  return row('console: time until it can be used, in seconds', median(times) / 1_000, spread(times));
}

const originOf = ({ url }: Up): string => new URL(url).origin;

/** Two idle moments of the page. */
const settled = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))');

async function streaming(page: Page, up: Up): Promise<readonly Row[]> {
  const [figures, streams]: [Figures[], Streamed[]] = [[], []];
  await page.goto(`${originOf(up)}/#/live`);
  await settled(page);
  for (let round = 0; round < rounds; round++) {
    await readFigures(page);
    streams.push(await streamDecisions({ url: originOf(up), key: up.key }, perSecond, streamSeconds));
    figures.push(await readFigures(page));
  }
  const rate = median(streams.map((each) => each.perSecond));
  const tasks = figures.map(({ longestTaskMs }) => longestTaskMs);
  const gaps = figures.map(({ longestGapMs }) => longestGapMs);
  const at = `${rate.toFixed(0)} decisions a second came for ${streamSeconds} s`;
  return [
    row(
      'console: longest task while decisions stream in, in tasks of 50 ms',
      median(tasks) / 50,
      `${spread(tasks)}; ${at}`,
    ),
    row(
      'console: longest gap between frames meanwhile, in frames of 60 a second',
      median(gaps) / frameMs,
      spread(gaps),
    ),
  ];
}

/** The list of the console by itself: no page of it keeps so many rows. */
async function scrolling(page: Page, url: string): Promise<readonly Row[]> {
  const figures: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.goto(url);
    await page.getByRole('row').nth(5).waitFor();
    await page.getByRole('table').hover();
    await settled(page);
    await readFigures(page);
    for (let step = 0; step < wheelSteps; step++) await page.mouse.wheel(0, stepPixels);
    await settled(page);
    figures.push(await readFigures(page));
    const top = await page.evaluate("document.querySelector('.virtual-view').scrollTop");
    if (Number(top) < (wheelSteps * stepPixels) / 2) throw new Error(`the table scrolled only to ${String(top)}`);
  }
  const tasks = figures.map(({ longestTaskMs }) => longestTaskMs);
  const gaps = figures.map(({ longestGapMs }) => longestGapMs);
  const frames = median(figures.map((each) => each.frames));
  return [
    row(
      'console: longest task while a table of 100,000 rows scrolls, in tasks of 50 ms',
      median(tasks) / 50,
      spread(tasks),
    ),
    row(
      'console: longest gap between frames meanwhile, in frames of 60 a second',
      median(gaps) / frameMs,
      `${spread(gaps)}; ${frames.toFixed(0)} frames`,
    ),
  ];
}

const row = (what: string, ratio: number, detail: string): Row => ({ what, ratio, bar: null, detail });
const spread = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} ms, from ${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
