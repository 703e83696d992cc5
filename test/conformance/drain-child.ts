/** Asks, and closes while the call is still on its way in; with nothing else that keeps the process alive. */
import path from 'node:path';
import { createGateway, tool } from '../../src/index.ts';

const [folder = '.', delayMs = '1'] = process.argv.slice(2);
const work = tool({ name: 'work', input: {}, run: async () => 'done' });
const gateway = await createGateway({ tools: [work], file: path.join(folder, 'store.db') });
const reply = gateway.handle({ tool: 'work', key: 'k' });
await new Promise((resolve) => setTimeout(resolve, Number(delayMs)));
await gateway.close();
process.stdout.write(`${JSON.stringify(await reply)}\n`);
