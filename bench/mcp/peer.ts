/** Starts `@fiberplane/mcp-gateway` in front of a server. Installs it into bench/peers when it is first measured. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Child } from '../child.ts';

export async function startPeer(folder: string, upstream: string): Promise<Child> {
  const home = fileURLToPath(new URL('../peers/', import.meta.url));
  const command = path.join(home, 'node_modules/@fiberplane/mcp-gateway/bin/mcp-gateway.js');
  if (!existsSync(command)) {
    process.stderr.write('installing @fiberplane/mcp-gateway into bench/peers …\n');
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund'], { cwd: home, stdio: 'inherit' });
  }
  const storage = path.join(folder, 'peer');
  mkdirSync(storage);
  writeFileSync(
    path.join(storage, 'mcp.json'),
    JSON.stringify({ mcpServers: { up: { url: upstream, type: 'http' } } }),
  );
  const port = await freePort();
  const given = [command, '--port', String(port), '--storage-dir', storage];
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'ignore', 'ignore'] });
  for (let tries = 0; tries < 200 && !(await answers(`http://127.0.0.1:${port}/`)); tries++) await pause(50);
  return {
    url: `http://127.0.0.1:${port}/s/up/mcp`,
    pid: child.pid ?? 0,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
