/**
 * A process with a gateway, to be killed. Makes the calls it is told to and prints, line by line, what happens. Its
 * bodies write their line into the world and then hang; or return; or return and freeze the process, so that the
 * outcome is recorded by the writer's thread and reaches nobody. Further orders come line by line.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGateway } from '../../src/index.ts';
import { checkFile } from './read-journal.ts';
import type { ChildEvent, ChildOrders, LaterOrder } from './start-child.ts';
import { createWorld } from './world.ts';

const { file, log, calls, bodies, limits } = JSON.parse(process.argv[2] ?? '{}') as ChildOrders;

const say = (event: ChildEvent) => process.stdout.write(`${JSON.stringify(event)}\n`);

const tools = createWorld(log, (execution) => {
  say({ event: 'began', execution });
  if (bodies === 'hang') return new Promise(() => undefined);
  if (bodies === 'freeze') setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  return 'done by the child';
});

const filler = `${file}-filler`;

/** Takes all the room there is, down to the last block. */
function fillDisk(): void {
  for (let bytes = 1 << 20; bytes >= 1_024; bytes /= 2) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

try {
  const onNotice = (notice: unknown) => void say({ event: 'noticed', notice: notice as never });
  const gateway = await createGateway({ file, tools, onNotice, ...(limits === undefined ? {} : { limits }) });
  say({ event: 'opened', role: gateway.role });
  const orders = createInterface({ input: process.stdin });
  orders.on('line', (line) => void obey(JSON.parse(line) as LaterOrder));
  orders.on('close', () => void leave());
  const obey = async (order: LaterOrder) => {
    if (order === 'fill') fillDisk();
    else if (order === 'free') rmSync(filler);
    else return say({ event: 'replied', at: order.at, reply: await gateway.handle(order.request) });
    return say({ event: 'obeyed', order });
  };
  const leave = async () => {
    await gateway.close({ drain_seconds: 0 });
    if (gateway.role === 'owner') await checkFile(file);
    process.exit(0);
  };
  await Promise.all(
    calls.map(async ({ request, who }, at) => say({ event: 'replied', at, reply: await gateway.handle(request, who) })),
  );
} catch (error) {
  const { name, message, reason } = error as Error & { reason?: string };
  say({ event: 'refused', name, message, reason: reason ?? '' });
}
