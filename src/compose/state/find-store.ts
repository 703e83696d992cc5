/**
 * Which store is meant? The one that is named (--file, RECOURSE_FILE), else runtime.store of the configuration, else the one in the
 * project's state folder. Every command asks here. Looking makes nothing; whoever writes has the folder made, and a store of an
 * earlier version moved into it.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { configName } from '../../config/config.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Project, ProjectRequest } from '../project/load-project.ts';
import { hasStore, moveStore } from './move-store.ts';
import { readRuntime } from '../project/read-runtime.ts';
import {
  defaultStore,
  type Environment,
  makeStateFolder,
  realPath,
  storeName,
  strandedFolders,
} from './state-folder.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';

export interface StoreWish {
  /** By --file or RECOURSE_FILE. */
  readonly file: string | undefined;
  readonly config: string | undefined;
}

/** `told` is what a person should know of it, in sentences. */
export type FoundStore =
  | { readonly kind: 'found'; readonly file: string; readonly told: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

const found = (file: string, told: readonly string[] = []): FoundStore => ({ kind: 'found', file, told });

/** For commands that look: the store as it lies now. */
export async function findStore({ file, config }: StoreWish): Promise<FoundStore> {
  if (file !== undefined) return found(file);
  const written = await writtenStore(config);
  return 'message' in written ? written : found(written.store ?? presentStore(projectOf(config)));
}

/** For commands that write: the same, with its folder. */
export async function prepareStore(wish: StoreWish): Promise<FoundStore> {
  if (wish.file !== undefined) return found(wish.file);
  const written = await writtenStore(wish.config);
  if ('message' in written) return written;
  return written.store === null ? prepareDefault(projectOf(wish.config)) : found(written.store);
}

/** Which store a gateway will have once it is started, if its configuration says this one. */
export const expectedStore =
  ({ file, config }: StoreWish) =>
  async (written: string | null): Promise<string> =>
    file ?? written ?? defaultStore(projectOf(config), process.env);

/** For a gateway whose configuration is read: rejects with a GatewayError if there can be no store. */
export async function storeOfProject(
  { file: config, config: { runtime } }: Pick<Project, 'file' | 'config'>,
  named: string | undefined,
  tell: (sentence: string) => void,
): Promise<string> {
  const written = named ?? runtime.store;
  if (written !== null && written !== undefined) return written;
  return defaultStoreOf(projectOf(config ?? undefined), tell);
}

/** The same for one that has none. */
export async function defaultStoreOf(project: string, tell: (sentence: string) => void): Promise<string> {
  const prepared = await prepareDefault(project);
  if (prepared.kind === 'refused') throw new GatewayError('not_writable', prepared.message);
  for (const sentence of prepared.told) tell(sentence);
  return prepared.file;
}

/** The folder of the configuration in use, or of the process without one. */
export const projectOf = (config: string | undefined): string => path.dirname(path.resolve(config ?? configName));

/** Where it lies while nobody has moved it yet. */
export function presentStore(project: string, env: Environment = process.env): string {
  const file = defaultStore(project, env);
  return hasStore(file) ? file : (earlierPlaces(project).find(hasStore) ?? file);
}

export async function prepareDefault(project: string, env: Environment = process.env): Promise<FoundStore> {
  const problem = makeStateFolder(project, env);
  if (problem !== null) return { kind: 'refused', message: problem };
  const file = defaultStore(project, env);
  const places = earlierPlaces(project);
  const isNew = !hasStore(file);
  const moved = await moveStore(places, file);
  switch (moved.kind) {
    case 'refused':
      return moved;
    case 'in_use':
      return found(moved.from, [
        `'${moved.from}' is in use, so it stays where it is for now; started without the other process, recourse moves it to '${path.dirname(file)}'`,
      ]);
    case 'moved':
      return found(file, [
        `the store and its keys were moved from '${moved.from}' to '${file}', where tools are not pointed at; runtime.store or --file names another place`,
      ]);
    case 'nothing':
      return found(file, [...(isNew ? strandedSentences(project, env) : []), ...leftSentences(places, file)]);
    default:
      return moved satisfies never;
  }
}

/** Before there were state folders the default was a file in the folder in which a command was started. */
function earlierPlaces(project: string): readonly string[] {
  const here = process.cwd();
  const isOther = realPath(here) !== realPath(project) && !existsSync(path.join(here, configName));
  return [project, ...(isOther ? [here] : [])].map((folder) => path.join(folder, storeName));
}

const strandedSentences = (project: string, env: Environment): readonly string[] =>
  strandedFolders(project, env).map(
    ({ folder, project: was }) =>
      `this is a new store. '${folder}' holds that of '${was}', which is gone: if it is this project, moved, name it with --file '${path.join(folder, storeName)}' or runtime.store`,
  );

const leftSentences = (places: readonly string[], file: string): readonly string[] =>
  places
    .filter(hasStore)
    .map(
      (place) =>
        `'${place}' is not used: the store of this project is '${file}'. If a program of yours names it, all is well; to use it here, name it with --file or runtime.store`,
    );

/** What runtime.store says, absolute; null if it says nothing. */
async function writtenStore(
  config: string | undefined,
): Promise<{ store: string | null } | (FoundStore & { kind: 'refused' })> {
  const file = path.resolve(config ?? configName);
  const { store, isStoreUnread } = await readRuntime(file);
  if (isStoreUnread) {
    const message = `runtime.store of '${config ?? configName}' cannot be read here: see recourse check, or name the store with --file`;
    return { kind: 'refused', message };
  }
  return { store: store === null ? null : path.resolve(path.dirname(file), store) };
}

export function checkLookups(config: string | undefined): Required<Pick<ProjectRequest, 'storeOf' | 'findApprovers'>> {
  const storeOf = async (): Promise<string | null> => {
    const stored = await findStore({ file: process.env['RECOURSE_FILE'] || undefined, config });
    return stored.kind === 'refused' ? null : stored.file;
  };
  return {
    storeOf,
    async findApprovers() {
      const [store, { findApprovers }] = await Promise.all([storeOf(), import('./key-files.ts')]);
      return store === null ? null : findApprovers(store, nodeClock.nowMs());
    },
  };
}
