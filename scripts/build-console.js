// Builds the console into console/dist; with --watch again after every change. Plain JavaScript, because `npm install`
// runs it. Where the tools for building were left out, as with `npm install --omit=dev`, it says so and builds nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../console');
const watches = process.argv.includes('--watch');
/** An installation without the tools is no failure: what was built before is in the package. */
const isInstalling = process.env.npm_lifecycle_event === 'prepare';

const settings = {
  root: folder,
  configFile: false,
  logLevel: watches ? 'info' : 'warn',
  // Assets are found wherever the page is served.
  base: '/',
  build: {
    outDir: join(folder, 'dist'),
    emptyOutDir: true,
    target: ['es2023', 'chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    // An image within a style sheet would be another source than our own.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    watch: watches ? {} : null,
  },
};

try {
  const { build } = await import('vite');
  await build(settings);
  if (!watches) process.stdout.write('the console is built: console/dist\n');
} catch (error) {
  const isMissing = error.code === 'ERR_MODULE_NOT_FOUND';
  const reason = isMissing ? 'its tools are not installed; npm install brings them' : error.message;
  process.stderr.write(`the console was not built: ${reason}\n`);
  const isKept = existsSync(join(folder, 'dist/index.html'));
  if (isKept) process.stderr.write('the one that was built before stays\n');
  process.exitCode = isInstalling && isMissing ? 0 : 1;
}
