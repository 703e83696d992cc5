/** A notice, as the gateway makes one, for tests of notifiers. */
import type { Notice, ToldEvent } from '../../ports/notice.ts';

const aToldEvent: ToldEvent = {
  id: 'evt_test_1.1',
  title: 'Denied',
  event: 'POLICY_DENY',
  kind: 'refused',
  at: '2026-05-18T00:00:00Z',
  tenant: 'default',
  agent: 'bot',
  tool: 'stripe/refund',
  call_id: 'call_1',
  session: null,
  message: 'denied: stripe/refund blocked by policy',
  approval: null,
  ticket: null,
  link: null,
};

/** `events`: how many are told with it. */
export function aNotice(id = 'evt_test_1.1', events = 1): Notice {
  const others = Array.from({ length: events - 1 }, (_, at) => ({ ...aToldEvent, id: `${id}-${at}` }));
  const told: Notice['told'] = [{ ...aToldEvent, id }, ...others];
  return { id, subscriber: 'people', told, count: events, omitted: {}, lastMs: Date.UTC(2026, 4, 18) };
}
