/**
 * A gateway in a process of its own whose door never says that it wrote the reply. Says the reply, and waits to be
 * killed.
 */
import { openGateway } from '../../src/main.ts';
import { handleCall } from '../../src/shell/call/handle-call.ts';
import { aTool } from './tools.ts';

const { gateway, shell } = await openGateway({
  tools: [aTool('pay', () => 'paid by the child')],
  file: process.argv[2] ?? '',
  onNotice: () => undefined,
});
const who = { tenant: 'default', agent: 'local' };
const written = new Promise<boolean>(() => undefined);
const reply = await handleCall({ tool: 'pay', args: {} }, who, { written }, shell);
process.send?.({ role: gateway.role, reply });
process.on('disconnect', () => process.exit());
