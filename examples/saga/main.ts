/**
 * A trip in three bookings. The car is sold out, so the session is rolled back: the hotel is cancelled, the flight says
 * that its fare cannot be, and a person is told. Exits 1 if that is not what happens.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGateway, httpTool, isRefusal, isSuccess } from '../../src/index.ts';
import { type Service, startService } from './services.ts';

const flight = await startService('flight', { cancels: false });
const hotel = await startService('hotel');
const car = await startService('car', { sells: false });

/** How a booking of each service is undone is said once, where the tool is declared. */
const toolsOf = (name: string, { url }: Service) => [
  httpTool({
    name: `${name}_book`,
    method: 'POST',
    url: `${url}/book`,
    input: { type: 'object', properties: { guest: { type: 'string' } }, required: ['guest'] },
    reverse: { tool: `${name}_cancel`, args: { id: 'result.id' }, window_seconds: 86_400 },
  }),
  httpTool({
    name: `${name}_cancel`,
    method: 'POST',
    url: `${url}/cancel`,
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  }),
];

const folder = mkdtempSync(path.join(tmpdir(), 'saga-'));
const gateway = await createGateway({
  tools: [...toolsOf('flight', flight), ...toolsOf('hotel', hotel), ...toolsOf('car', car)],
  file: path.join(folder, 'recourse.db'),
});

try {
  // 1. Three bookings in one session. The last one fails.
  const session = await gateway.openSession();
  for (const name of ['flight', 'hotel', 'car'] as const) {
    const reply = await gateway.call({ tool: `${name}_book`, args: { guest: 'ada' }, session } as never);
    console.log(`${name}: ${isRefusal(reply) ? reply.message : 'booked, with a reversal token'}`);
    assert.equal(isSuccess(reply) && reply.reversal_token !== undefined, name !== 'car');
  }

  // 2. Nobody cancels by hand: the tools that undo are not for agents.
  const direct = await gateway.call({ tool: 'hotel_cancel', args: { id: 'hotel-ada' } } as never);
  assert.ok('error' in direct && direct.code === 'POLICY_DENY');
  assert.deepEqual(hotel.ledger, ['book ada']);

  // 3. The session is rolled back: the last booking first, past the one that cannot be undone.
  const view = await gateway.reversals.rollBack(session, { by: 'ann', reason: 'there is no car' });
  for (const step of view?.steps ?? []) console.log(`rollback: ${step.tool} ${step.outcome}`);
  assert.deepEqual(
    view?.steps.map(({ tool, outcome }) => [tool, outcome]),
    [
      ['hotel_book', 'reversed'],
      ['flight_book', 'failed'],
    ],
  );
  assert.deepEqual([hotel.ledger, flight.ledger, car.ledger], [['book ada', 'cancel hotel-ada'], ['book ada'], []]);

  // 4. What could not be undone is told: it is listed, on record, and a person has a ticket.
  const [ticket] = await gateway.tickets.list({ state: 'open' });
  console.log(`ticket:   ${ticket?.says} (${ticket?.tool}, queue ${ticket?.queue})`);
  assert.deepEqual([view?.left, ticket?.reason, ticket?.queue], [1, 'reversal_refused', 'reversals']);

  // 5. Again: nothing is undone twice.
  const again = await gateway.reversals.rollBack(session, { by: 'ann' });
  assert.equal(again?.left, 1);
  assert.deepEqual(hotel.ledger, ['book ada', 'cancel hotel-ada']);
  console.log('\none rollback: one booking undone, one told.');
} catch (error) {
  process.exitCode = 1;
  console.error(error);
} finally {
  await gateway.close({ drain_seconds: 0 });
  await Promise.all([flight, hotel, car].map((service) => service.close()));
  rmSync(folder, { recursive: true, force: true });
}
