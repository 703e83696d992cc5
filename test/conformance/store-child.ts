/**
 * A process that opens a store, for tests that need a second one or want to kill one.
 * `hold`: opens and waits. `write`: commits without end and prints each call that was acknowledged. `tickets`: opens and
 * closes tickets without end and prints what was acknowledged.
 */
import { writeSync } from 'node:fs';

import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import { aTicket, closingTicket, openingTicket, ticketing } from './recovery/ticket-fixtures.ts';
import { aCall, inserting, replyOf, updating } from './store-fixtures.ts';

const [mode = 'hold', file = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

const opened = await openSqliteStore({ file });
if (opened.kind === 'refused') throw new Error(opened.message);
const { store, role } = opened;
say(`${role} ${store.incarnation}`);
// Keeps the process alive until it is killed or its parent is gone.
process.stdin.resume().on('end', () => process.exit());

if (mode === 'write') {
  const prefix = `call_${process.argv[4] ?? ''}`;
  let made = 0;
  const writer = async () => {
    for (;;) {
      const id = `${prefix}_${String(++made).padStart(9, '0')}` as ReturnType<typeof aCall>['id'];
      const call = aCall({ id, state: 'DISPATCHED', attempt: 1, owner: store.incarnation });
      const token = `t-${id}`;
      const [intent] = await store.commit([inserting(call, ['PREPARED', 'DISPATCHED'], { token })]);
      if (intent?.kind !== 'committed') continue;
      say(`DISPATCHED ${id}`);
      const settle = updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { token: `s-${id}`, payloads: replyOf() });
      const [outcome] = await store.commit([settle]);
      if (outcome?.kind === 'committed') say(`SUCCEEDED ${id}`);
    }
  };
  for (let count = 0; count < 16; count++) void writer();
}

if (mode === 'tickets')
  for (let count = 1; ; count++) {
    const call = `call_${process.argv[4] ?? ''}_${count}` as ReturnType<typeof aCall>['id'];
    const ticket = aTicket({ call });
    const [open] = await store.commit([{ ...ticketing(openingTicket(ticket)), token: `open ${ticket.id}` }]);
    if (open?.kind === 'committed') say(`open ${ticket.id}`);
    const [close] = await store.commit([{ ...ticketing(closingTicket(ticket)), token: `close ${ticket.id}` }]);
    if (close?.kind === 'committed') say(`closed ${ticket.id}`);
  }
