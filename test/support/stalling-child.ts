/**
 * A gateway behind its HTTP door in a process of its own, which a test can stop. Its tool `pay` asks the address it is
 * given.
 */
import { openHttp } from '../e2e/http/open-http.ts';
import { aTool } from './tools.ts';

const bank = process.argv[2] ?? '';
const pay = aTool('pay', async (args) => {
  const response = await fetch(bank, { method: 'POST', body: JSON.stringify(args) });
  return response.json();
});

const { url, keys } = await openHttp({ after: () => undefined }, { tools: [pay], unverified: true });
process.send?.({ url: url.href, key: keys.agent });
process.on('disconnect', () => process.exit());
