/**
 * A process with a gateway, to be killed. Makes the calls it is told to and prints, line by line, what happens. Its
 * bodies write their line into the world and then hang; or return; or return and freeze the process, so that the
 * outcome is recorded by the writer's thread and reaches nobody.
 */
import { createGateway } from '../../src/index.ts';
import type { ChildEvent, ChildOrders } from './start-child.ts';
import { createWorld } from './world.ts';

const { file, log, calls, bodies, limits } = JSON.parse(process.argv[2] ?? '{}') as ChildOrders;

const say = (event: ChildEvent) => process.stdout.write(`${JSON.stringify(event)}\n`);

const tools = createWorld(log, (execution) => {
  say({ event: 'began', execution });
  if (bodies === 'hang') return new Promise(() => undefined);
  if (bodies === 'freeze') setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  return 'done by the child';
});

try {
  const gateway = await createGateway({ file, tools, ...(limits === undefined ? {} : { limits }) });
  say({ event: 'opened', role: gateway.role });
  await Promise.all(
    calls.map(async ({ request, who }, at) => say({ event: 'replied', at, reply: await gateway.handle(request, who) })),
  );
  say({ event: 'asked' });
  // Stays until it is killed, or until its parent is gone.
  process.stdin.resume().on('end', () => void gateway.close({ drain_seconds: 0 }).then(() => process.exit(0)));
} catch (error) {
  const { name, message, reason } = error as Error & { reason?: string };
  say({ event: 'refused', name, message, reason: reason ?? '' });
}
