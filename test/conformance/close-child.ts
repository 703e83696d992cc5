/**
 * Opens and closes a store again and again while a mark is on its way, with nothing else that keeps the process alive.
 */
import path from 'node:path';
import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import { nothingYet } from '../../src/shell/ending/transition.ts';

const [folder = '.', rounds = '1'] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  const opened = await openSqliteStore({ file: path.join(folder, 'store.db'), markEveryMs: 0 });
  if (opened.kind === 'refused') throw new Error(opened.message);
  const { store } = opened;
  const body = { kind: 'clock_held', call: null, session: null, body: '{}', payloads: [] } as const;
  const [result] = await store.commit([{ token: `t${round}`, atMs: 1, ...nothingYet, records: [body] }]);
  if (result?.kind === 'committed' && result.position !== null) store.answered(result.position);
  await new Promise((resolve) => setTimeout(resolve, round % 3));
  await store.close();
}
process.stdout.write(`closed ${rounds}\n`);
