/** What does a configuration say of the address and the store? As far as it can be read: what else is wrong with it is told by whoever loads it. */
import { readFile } from 'node:fs/promises';
import { configName, emptyConfig, type RuntimeConfig } from '../config/config.ts';

export async function peekRuntime(file: string): Promise<RuntimeConfig> {
  try {
    const text = await readFile(file, 'utf8');
    // Most files do not say it, and to load what reads them takes longer than to ask a gateway. An escape may spell it.
    if (!/runtime|\\/.test(text)) return emptyConfig.runtime;
    const { readConfig } = await import('../config/read-config.ts');
    return readConfig(text, configName, { env: process.env }).config.runtime;
  } catch {
    return emptyConfig.runtime;
  }
}
