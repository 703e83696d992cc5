/** A gateway on a disk of its own that a test can fill to the last block: a small tmpfs that only its process sees. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { OperatorNotice, Reply } from '../../src/index.ts';
import { checkReply } from './check-reply.ts';
import { folderOf } from './open-gateway.ts';
import { startChild } from './start-child.ts';
import { type Execution, executionsIn, toolOf } from './world.ts';
import { effectClassNames } from './tools.ts';

export const within = (folder: string) => [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'mount -t tmpfs -o size=4m none "$0" && exec "$@"',
  folder,
];

/** Why it cannot be done here, or false. */
export function whyNoSmallDisk(): string | false {
  try {
    const [command = '', ...line] = [...within(tmpdir()), 'true'];
    execFileSync(command, line, { stdio: 'ignore' });
    return false;
  } catch {
    return 'this user may not mount a tmpfs';
  }
}

export interface SmallDisk {
  ask(request: unknown): Promise<Reply>;
  fill(): Promise<void>;
  free(): Promise<void>;
  notice(kind: OperatorNotice['kind']): Promise<OperatorNotice>;
  executions(): readonly Execution[];
  end(): Promise<void>;
}

export async function startGatewayOnSmallDisk(t: TestContext): Promise<SmallDisk> {
  const folder = path.join(folderOf(t), 'disk');
  mkdirSync(folder);
  const log = path.join(folderOf(t), 'world.log');
  const file = path.join(folder, 'recourse.db');
  const limits = { storeRetryMs: [5, 10], sweepEveryMs: 20 };
  const child = startChild(t, { file, log, calls: [], bodies: 'return', limits }, { within: within(folder) });
  await child.next('opened');
  const around = { tools: effectClassNames.map(toolOf), folder };
  return {
    ask: async (request) => checkReply(await child.ask(request), around),
    fill: () => child.order('fill'),
    free: () => child.order('free'),
    notice: async (kind) => (await child.next('noticed', (event) => event.notice.kind === kind)).notice,
    executions: () => executionsIn(log),
    end: () => child.end(),
  };
}
