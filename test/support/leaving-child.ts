/**
 * A gateway in a process of its own with a client that leaves when it is told `leave`, and a payment that ends when it
 * is told `finish`.
 */
import { openGateway } from '../../src/main.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import { aTool } from './tools.ts';

const left = new AbortController();
const finished = Promise.withResolvers<string>();
const pay = aTool('pay', () => {
  process.send?.({ kind: 'booked' });
  return finished.promise;
});
const { gateway, shell } = await openGateway({
  tools: [pay],
  file: process.argv[2] ?? '',
  onNotice: () => undefined,
});
process.on('message', (message) => {
  if (message === 'leave') left.abort();
  else finished.resolve('paid by the child');
});
process.on('disconnect', () => process.exit());
if (gateway.role !== 'forwarder') throw new Error('it stands alone');
const written = new Promise<boolean>(() => undefined);
await handleCall(
  { tool: 'pay', args: {} },
  { tenant: 'default', agent: 'local' },
  { left: left.signal, written },
  shell,
);
