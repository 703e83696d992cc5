/**
 * Reads the address and the store from a configuration, as far as it can be read. Other problems of the file are
 * reported when it is loaded.
 */
import { readFile } from 'node:fs/promises';
import { configName, emptyConfig, type RuntimeConfig } from '../../config/config.ts';

export interface ReadRuntime extends RuntimeConfig {
  /** The file names a store that cannot be read here: a variable is not set, or the file is not YAML. */
  readonly isStoreUnread: boolean;
}

export async function readRuntime(file: string): Promise<ReadRuntime> {
  try {
    const text = await readFile(file, 'utf8');
    // Most files have no such key, and loading the YAML reader is slow. An escape sequence may spell it.
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
