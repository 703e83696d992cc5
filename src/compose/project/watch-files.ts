/**
 * Calls back when a file of a project changes. Watches folders, because editors replace files, and compares contents.
 * Waits until nothing has changed for a moment.
 */
import crypto from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { configName } from '../../config/config.ts';
import { readProjectFiles, readText } from './read-project-files.ts';

/** An editor saves in several steps. */
const quietMs = 150;

export type Watching = { readonly stop: () => void } | { readonly problem: string };

export async function watchFiles(config: string | undefined, onChange: () => void): Promise<Watching> {
  const file = path.resolve(config ?? configName);
  const watchers = new Map<string, FSWatcher>();
  let last = await look();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** A hash of the contents of all files. The first file names the others. */
  async function look(): Promise<string> {
    const main = await readText(file);
    const files = main.ok ? (await readProjectFiles(file, main.text, process.cwd())).files : [file];
    for (const folder of new Set(files.map((each) => path.dirname(each)))) watchFolder(folder);
    // Ignored: a file that cannot be read is one of the states that are compared.
    const texts = await Promise.all(files.map((each) => readFile(each, 'utf8').catch(() => null)));
    return crypto.hash('sha256', JSON.stringify([files, texts]), 'hex');
  }

  function watchFolder(folder: string): void {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void compare(), quietMs);
    });
    // A deleted folder cannot change any more.
    watcher.on('error', () => undefined);
    watchers.set(folder, watcher);
  }

  async function compare(): Promise<void> {
    // Ignored: nothing is known to have changed; the next look comes soon.
    const now = await look().catch(() => last);
    if (now === last || isStopped) return;
    last = now;
    onChange();
  }

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
