/**
 * A process with a store and a webhook, to be killed: writes a record for each line it gets, and says where it stands.
 */
import { createInterface } from 'node:readline';
import { startNotices } from '../../src/adapters/notify/start-notices.ts';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import { mustOpen } from '../conformance/sqlite-home.ts';
import { aHook, aView, quickLimits, record } from './notice-home.ts';

const [file = '', url = ''] = process.argv.slice(2);
const store = await mustOpen({ file });
await startNotices([aHook({ url })], {
  store: () => store,
  approval: async (id) => ({ tenant: 'default', view: aView({ approval_id: id }) }),
  file: `${file}.hooks.json`,
  clock: nodeClock,
  random: Math.random,
  limits: quickLimits,
  notifierOf: () => {
    throw new Error('there is none here');
  },
  onTrouble: () => undefined,
  onGivenUp: () => undefined,
});
process.stdout.write('open\n');
for await (const _line of createInterface({ input: process.stdin })) process.stdout.write(`${await record(store)}\n`);
