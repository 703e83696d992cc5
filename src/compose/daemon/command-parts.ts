/** What init, pin, explain, apply and the commands that ask a gateway need. Loaded when one of them runs. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { DaemonParts } from '../../doors/cli/run-command.ts';
import { findDaemon } from './ask-daemon.ts';

/** What only one command needs is loaded when that command runs. */
export const commandParts: DaemonParts = {
  findDaemon,
  nowMs: () => nodeClock.nowMs(),
  readText,
  newKey: () => `cli_${randomUUID()}`,
  initProject: async (order) => (await import('../init/init-project.ts')).initProject(order),
  pinTools: async (order) => (await import('../upstreams/pin-tools.ts')).pinTools(order),
  showPlaybook: async (tool, config) => (await import('../project/show-playbook.ts')).showPlaybook(tool, config),
  explainOffline: async (order) => (await import('./explain-offline.ts')).explainOffline(order),
  checkFiles: async (config) => (await import('../project/check-files.ts')).checkFiles(config),
  onlyAgent: async (config) => (await import('../project/check-files.ts')).onlyAgent(config),
  watchFiles: async (config, onChange) => (await import('../project/watch-files.ts')).watchFiles(config, onChange),
};

const maxTextBytes = 4 << 20;

async function readText(file: string): ReturnType<DaemonParts['readText']> {
  try {
    const bytes = await readFile(file);
    return bytes.length > maxTextBytes
      ? { problem: `'${file}' is larger than ${maxTextBytes} bytes: that is no list of arguments` }
      : { text: bytes.toString('utf8') };
  } catch (error) {
    return { problem: `'${file}' cannot be read (${(error as NodeJS.ErrnoException).code}): check its name and mode` };
  }
}
