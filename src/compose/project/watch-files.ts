/**
 * When did one of the files of a project change? Their folders are watched, since editors put a new file in the place of the old
 * one; what counts is what is written in them. Calls back once things have been quiet for a moment.
 */
import crypto from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { configName } from '../../config/config.ts';
import { readProjectFiles, readText } from './read-project-files.ts';

/** An editor saves in several acts. */
const quietMs = 150;

export type Watching = { readonly stop: () => void } | { readonly problem: string };

export async function watchFiles(config: string | undefined, onChange: () => void): Promise<Watching> {
  const file = path.resolve(config ?? configName);
  const watchers = new Map<string, FSWatcher>();
  let last = await look();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** What is written in all of them; which they are follows from the first. */
  async function look(): Promise<string> {
    const main = await readText(file);
    const files = main.ok ? (await readProjectFiles(file, main.text, process.cwd())).files : [file];
    for (const folder of new Set(files.map((each) => path.dirname(each)))) watchFolder(folder);
    const texts = await Promise.all(files.map((each) => readFile(each, 'utf8').catch(() => null)));
    return crypto.hash('sha256', JSON.stringify([files, texts]), 'hex');
  }

  function watchFolder(folder: string): void {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void compare(), quietMs);
    });
    // A folder that is gone has nothing more to tell.
    watcher.on('error', () => undefined);
    watchers.set(folder, watcher);
  }

  async function compare(): Promise<void> {
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
