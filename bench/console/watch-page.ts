/** A page of the console in a real browser, with what it tells of its own speed. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { needChromium } from '../../scripts/chromium.ts';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
const ceilingMs = 120_000;

/** Before any script of the page: long tasks, gaps between frames, and when the first heading stood there. */
const watch = `
  globalThis.bench = { tasks: [], gaps: [], firstMs: null, lastEndMs: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      bench.tasks.push(duration);
      bench.lastEndMs = Math.max(bench.lastEndMs, startTime + duration);
    }
  }).observe({ type: 'longtask', buffered: true });
  let last = performance.now();
  const frame = (now) => {
    bench.gaps.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new MutationObserver((_changes, observer) => {
    if (document.querySelector('main h1') === null) return;
    bench.firstMs = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
`;

/** Of the page since it was loaded, or since it was last asked. Milliseconds. */
export interface Figures {
  /** The first heading stands there, and no long task runs any more. */
  readonly interactiveMs: number;
  /** 0 if no task took 50 ms. */
  readonly longestTaskMs: number;
  readonly frames: number;
  readonly longestGapMs: number;
}

export async function openBrowser(): Promise<Browser> {
  const { path: executablePath, missing } = needChromium({ installs: false });
  if (executablePath === undefined) throw new Error(missing);
  return chromium.launch({ executablePath, args: flags });
}

export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  context.setDefaultTimeout(ceilingMs);
  await context.addInitScript(watch);
  return context.newPage();
}

export async function readFigures(page: Page): Promise<Figures> {
  return (await page.evaluate(`(() => {
    const { tasks, gaps, firstMs, lastEndMs } = bench;
    const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);
    const figures = {
      interactiveMs: Math.max(firstMs ?? NaN, lastEndMs),
      longestTaskMs: most(tasks), frames: gaps.length, longestGapMs: most(gaps),
    };
    bench.tasks = [];
    bench.gaps = [];
    return figures;
  })()`)) as Figures;
}
