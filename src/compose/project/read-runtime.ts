/** What does a configuration say of the address and the store? As far as it can be read: what else is wrong with it is told by whoever loads it. */
import { readFile } from 'node:fs/promises';
import { configName, emptyConfig, type RuntimeConfig } from '../../config/config.ts';

export interface ReadRuntime extends RuntimeConfig {
  /** The file names a store, and which one cannot be told here: a variable is not set, or the file is no YAML. */
  readonly isStoreUnread: boolean;
}

export async function readRuntime(file: string): Promise<ReadRuntime> {
  try {
    const text = await readFile(file, 'utf8');
    // Most files do not say it, and to load what reads them takes longer than to ask a gateway. An escape may spell it.
    if (!/runtime|\\/.test(text)) return nothing;
    const [{ readConfig }, { readYaml }, { hasKey }] = await Promise.all([
      import('../../config/read-config.ts'),
      import('../../config/yaml/yaml-tree.ts'),
      import('../../config/shape/read-shape.ts'),
    ]);
    const { runtime } = readConfig(text, configName, { env: process.env }).config;
    if (runtime.store !== null) return { ...runtime, isStoreUnread: false };
    const tree = readYaml(text, configName, () => undefined);
    return { ...runtime, isStoreUnread: tree === null ? /store/.test(text) : hasKey(tree, ['runtime', 'store']) };
  } catch {
    return nothing;
  }
}

const nothing: ReadRuntime = { ...emptyConfig.runtime, isStoreUnread: false };
