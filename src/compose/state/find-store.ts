/**
 * Finds the store that a command means: --file or RECOURSE_FILE, else runtime.store, else the one in the project's
 * state folder. Reading creates nothing. Writing creates the folder and moves a store of an earlier version into it.
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

/** `told` are messages for the user. */
export type FoundStore =
  | { readonly kind: 'found'; readonly file: string; readonly told: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

const found = (file: string, told: readonly string[] = []): FoundStore => ({ kind: 'found', file, told });

/** For commands that read: the store where it is now. */
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

/** The store that a gateway will use, given the configured one. */
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

/** The same without a configuration. */
export async function defaultStoreOf(project: string, tell: (sentence: string) => void): Promise<string> {
  const prepared = await prepareDefault(project);
  if (prepared.kind === 'refused') throw new GatewayError('not_writable', prepared.message);
  for (const sentence of prepared.told) tell(sentence);
  return prepared.file;
}

/** The folder of the configuration in use, or of the process without one. */
export const projectOf = (config: string | undefined): string => path.dirname(path.resolve(config ?? configName));

/** The current place of the default store, before it is moved. */
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

/** The absolute path of runtime.store; null if not set. */
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
