/**
 * Stores the tools that a server listed last in a file beside the store, so that they are known after a restart while
 * it is away. What is read back is checked like a list of the server. A list of another program or address is
 * ignored.
 */
import crypto from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '../../../core/values/json.ts';
import type { McpUpstreamConfig } from '../mcp-config.ts';

export interface StoredTools {
  /** Null if there is none that can be used. */
  read(): Promise<readonly unknown[] | null>;
  /** Null, or why it could not be kept. */
  write(tools: readonly unknown[]): Promise<string | null>;
}

export function createStoredTools(folder: string, config: McpUpstreamConfig, maxChars: number): StoredTools {
  const file = path.join(folder, `${config.name}.json`);
  const of = fingerprintOf(config);
  let last: string | null = null;
  let writing: Promise<string | null> = Promise.resolve(null);

  async function keep(text: string): Promise<string | null> {
    if (text === last) return null;
    const fresh = `${file}.${process.pid}.new`;
    try {
      await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
      await writeFile(fresh, text, { mode: 0o600 });
      await rename(fresh, file);
      last = text;
      return null;
    } catch (error) {
      return `the list of its tools could not be kept (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
    }
  }

  return {
    async read() {
      try {
        // Bytes, where the limit counts characters.
        if ((await stat(file)).size > maxChars * 4) return null;
        const text = await readFile(file, 'utf8');
        const kept: unknown = JSON.parse(text);
        if (!isObject(kept) || kept['of'] !== of || !Array.isArray(kept['tools'])) return null;
        last = text;
        return kept['tools'];
      } catch {
        // None, or not complete: the server lists its tools again.
        return null;
      }
    },
    write(tools) {
      const text = JSON.stringify({ of, tools });
      if (text.length > maxChars) return Promise.resolve('it lists too much to be kept');
      return (writing = writing.then(() => keep(text)));
    },
  };
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Without variables and headers: they are secrets, and do not make it another server. */
function fingerprintOf({ connect }: McpUpstreamConfig): string {
  const { kind } = connect;
  const who = kind === 'http' ? [connect.url] : [connect.command, connect.args, connect.cwd];
  return crypto.hash('sha256', JSON.stringify([kind, ...who]), 'hex');
}
