/** The writer's thread without Recourse: the same connection and statements, rows as they come, one COMMIT a batch. */
import { parentPort, workerData } from 'node:worker_threads';
import { openForWriting } from '../src/adapters/store-sqlite/file/connection.ts';
import { prepareStatements } from '../src/adapters/store-sqlite/write/statements.ts';

type Name = keyof ReturnType<typeof prepareStatements>;
export type RawRow = readonly [Name, ...(string | number | null | Uint8Array)[]];

const opened = openForWriting((workerData as { file: string }).file, null);
if (opened.kind === 'refused') throw new Error(opened.message);
const { database } = opened;
const statements = prepareStatements(database);

parentPort?.on('message', (batch: readonly (readonly RawRow[])[] | 'close') => {
  if (batch === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  statements.begin.run();
  for (const rows of batch) for (const [name, ...values] of rows) statements[name].run(...values);
  statements.commit.run();
  parentPort?.postMessage(batch.length);
});
parentPort?.postMessage('ready');
