/** Builds the page with the long table as the console is built, and serves it. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { build } from 'vite';

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

export async function serveTable(folder: string): Promise<{ readonly url: string; stop(): void }> {
  await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      rollupOptions: { input: path.join(import.meta.dirname, 'table-page.js') },
    },
  });
  const assets = path.join(folder, 'assets');
  const names = readdirSync(assets);
  const tags = names.map((name) =>
    name.endsWith('.css')
      ? `<link rel="stylesheet" href="/${name}">`
      : `<script type="module" src="/${name}"></script>`,
  );
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>table</title>${tags.join('')}<body></body></html>`;
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1);
    const isAsset = names.includes(name);
    response.setHeader('content-type', (isAsset ? types[path.extname(name)] : undefined) ?? 'text/html');
    response.end(isAsset ? readFileSync(path.join(assets, name)) : page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
