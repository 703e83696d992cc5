/**
 * Measures what a newcomer waits for: from `git clone` to looking at the first held refund in a browser. Clones this
 * repository as it is committed, into a temporary folder, and does there what README.md says first.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { needChromium } from './chromium.ts';

const aimSeconds = 60;
/** Ends what would never end. */
const ceilingMs = 600_000;
const root = path.dirname(import.meta.dirname);
/** The refund that the demo's first agent asks for and a person looks at. */
const heldOrder = 'ord_1043';

const { path: executablePath, missing } = needChromium({ installs: false });
if (executablePath === undefined) {
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}
// The newcomer's Node is whatever the machine has, not the one of this project.
const ours = path.join(root, 'node_modules');
const searched = (process.env['PATH'] ?? '').split(path.delimiter).filter((each) => !each.startsWith(ours));
const env = { ...process.env, PATH: searched.join(path.delimiter) };

const folder = mkdtempSync(path.join(tmpdir(), 'recourse-first-look-'));
const clone = path.join(folder, 'recourse');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
const began = performance.now();
let last = began;
const tell = (what: string) => {
  const now = performance.now();
  process.stdout.write(`${what.padEnd(44)} ${((now - last) / 1_000).toFixed(1).padStart(6)} s\n`);
  last = now;
};

execFileSync('git', ['clone', '--quiet', root, clone], { env });
tell('git clone');
execFileSync('npm', ['install'], { cwd: clone, env, stdio: ['ignore', 'ignore', 'inherit'] });
tell('npm install');
const demo = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const address = await addressOf(demo.stdout);
  tell('npm start, until it prints its address');
  const page = await browser.newPage();
  page.setDefaultTimeout(ceilingMs);
  await page.goto(address);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('main').getByText(heldOrder).first().waitFor();
  tell('the first held refund on the page');
} finally {
  demo.kill('SIGTERM');
  await browser.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
const seconds = (last - began) / 1_000;
process.stdout.write(`${'in all'.padEnd(44)} ${seconds.toFixed(1).padStart(6)} s, aim ${aimSeconds} s\n`);

/** Goes on reading: a demo whose reader is gone ends. */
function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const [, address] = /^Open +(http:\S+)\n/m.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    });
    output.on('end', () => reject(new Error(`npm start has ended: ${printed}`)));
  });
}
