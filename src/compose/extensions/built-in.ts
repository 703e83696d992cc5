/** The extensions that ship with the gateway. Each is loaded only if something uses what it adds. */
import type { Addition } from '../../core/extension/extension-shape.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { loadedOf, type LoadedExtension, type Use } from './extension-set.ts';

interface BuiltIn {
  readonly adds: Partial<Readonly<Record<Addition, readonly string[]>>>;
  readonly load: () => Promise<unknown>;
}

/** By name. */
const builtIn: Readonly<Record<string, BuiltIn>> = {
  anthropic: {
    adds: { models: ['anthropic'] },
    load: async () => (await import('../../extensions/anthropic/index.ts')).anthropic,
  },
  openai: { adds: { models: ['openai'] }, load: async () => (await import('../../extensions/openai/index.ts')).openai },
  vault: {
    adds: { credentials: ['vault'] },
    load: async () => (await import('../../extensions/vault/index.ts')).vault,
  },
  smtp: { adds: { notifiers: ['smtp'] }, load: async () => (await import('../../extensions/smtp/index.ts')).smtp },
};

/** The one of ours that adds this; undefined if none does. */
export const builtInWith = ({ addition, kind }: Use): string | undefined =>
  Object.keys(builtIn).find((name) => builtIn[name]?.adds[addition]?.includes(kind) === true);

export const isBuiltInName = (name: string): boolean => Object.hasOwn(builtIn, name);

export async function loadBuiltIn(uses: readonly Use[]): Promise<readonly LoadedExtension[]> {
  const names = [...new Set(uses.flatMap((use) => builtInWith(use) ?? []))];
  return Promise.all(
    names.map(async (called) => {
      const extension = await builtIn[called]?.load();
      const { loaded } = loadedOf(extension, { called, settings: {}, at: null, isBuiltIn: true });
      invariant(loaded !== null, `the extension '${called}' that ships with the gateway is none`);
      return loaded;
    }),
  );
}
