/**
 * The first part of the demo: one scene for each kind of outcome, in an order that makes sense in a shop. Each says
 * what must come of it.
 */
import type { Reply } from '../../core/call/reply.ts';
import { orderAt } from '../shop/orders.ts';
import { euros, type Stage } from './stage.ts';
import { type Outcome, outcomeOf } from './talk.ts';

export interface Scene {
  readonly play: (stage: Stage) => Promise<Reply>;
  readonly comes: Outcome;
}

const nora = orderAt(0);
const aylin = orderAt(2);
const jonas = orderAt(3);
const samuel = orderAt(5);
const chiara = orderAt(4);
const leila = orderAt(8);
const tomas = orderAt(1);
const hugo = orderAt(11);

type Told = Pick<ReturnType<typeof orderAt>, 'order'>;

const read = ({ order }: Told) => ({ says: `reads order ${order}`, tool: 'shop/get_order', args: { order } });

const refund = ({ order }: Told, amount_cents: number, reason: string) => ({
  says: `refunds ${euros(amount_cents)} of ${order}: ${reason}`,
  tool: 'payments/refund',
  args: { order, amount_cents, reason },
});

const mail = ({ email, customer }: ReturnType<typeof orderAt>, subject: string) => ({
  says: `writes to ${customer}: ${subject}`,
  tool: 'shop/send_mail',
  args: { to: email, subject, text: `Hello ${customer},\n\n${subject}.\n\nKettle & Leaf` },
});

const voucher = ({ customer }: ReturnType<typeof orderAt>, amount_cents: number, reason: string) => ({
  says: `gives ${customer} a voucher of ${euros(amount_cents)}`,
  tool: 'shop/issue_voucher',
  args: { customer, amount_cents, reason },
});

/** A refund that a person looks at: the agent names the order that it relies on, and waits beside its other work. */
export async function askForRefund(
  { support, people, newKey }: Stage,
  order: Told,
  cents: number,
  reason: string,
): Promise<Reply> {
  const seen = await support.call(read(order));
  const evidence = 'error' in seen || seen.call_id === null ? [] : [seen.call_id];
  const wish = { ...refund(order, cents, reason), key: newKey(), evidence };
  const reply = await support.call(wish);
  if ('error' in reply && reply.resolution.type === 'pending_approval')
    people.awaitApproval(support, reply.resolution.approval_id, `the refund of ${euros(cents)}`, () =>
      support.call({ ...wish, says: `asks again: ${wish.says}` }),
    );
  return reply;
}

/** A transfer whose answer is lost: the money has moved, and nobody here can know. */
export async function loseTransfer(
  { support, people, failPayment }: Stage,
  { order }: Told,
  amount_cents: number,
  reason: string,
): Promise<Reply> {
  await failPayment({ fault: 'drop_after', match: { operation: 'refund' } });
  const says = `transfers ${euros(amount_cents)} for ${order}: ${reason}`;
  const session = await support.open();
  const reply = await support.call({ says, tool: 'bank/transfer', args: { order, amount_cents, reason }, session });
  if (outcomeOf(reply) === 'in_doubt' && reply.call_id !== null)
    people.awaitSettling(support, reply.call_id, `the transfer of ${euros(amount_cents)}`);
  return reply;
}

/**
 * A refund that the payment service forbids: a ticket for a person. In a session of its own, where the refund stays
 * fenced until the ticket is answered; other customers are served meanwhile.
 */
async function meetRefusal({ support, people, failPayment }: Stage, order: Told, cents: number, reason: string) {
  await failPayment({ fault: '403', match: { operation: 'refund' } });
  const session = await support.open();
  const reply = await support.call({ ...refund(order, cents, reason), session });
  if ('error' in reply && 'outcome' in reply && reply.outcome?.kind === 'escalated')
    people.awaitTicket(support, reply.outcome.ticket_id, `the refund of ${euros(cents)}`);
  return reply;
}

/** A parcel is shipped before it is packed; the reply says what is possible, and the agent does that. */
function createParcel({ order }: Told) {
  let session: string | null = null;
  return async ({ warehouse }: Stage, action: string): Promise<Reply> => {
    session ??= await warehouse.open('parcel');
    return warehouse.step({ says: `${action}s ${order}`, session, action, inputs: { order } });
  };
}

export function createStory(): readonly Scene[] {
  const parcel = createParcel(jonas);
  return [
    { comes: 'succeeded', play: ({ support }) => support.call(read(nora)) },
    { comes: 'succeeded', play: ({ support }) => support.call(refund(nora, 1_990, 'the teapot came with a scratch')) },
    {
      comes: 'POLICY_DEFER',
      play: (stage) => askForRefund(stage, aylin, 18_900, 'the grinder arrived broken'),
    },
    { comes: 'succeeded', play: (stage) => parcel(stage, 'pick') },
    { comes: 'invalid_transition', play: (stage) => parcel(stage, 'ship') },
    { comes: 'succeeded', play: (stage) => parcel(stage, 'pack') },
    {
      comes: 'validation_failed',
      play: ({ support }) =>
        support.call({
          says: `refunds "39,90" of ${chiara.order}: the frother does not turn on`,
          tool: 'payments/refund',
          args: { order: chiara.order, amount_cents: '39,90', reason: 'the frother does not turn on' },
        }),
    },
    {
      comes: 'retried',
      async play({ support, failPayment }) {
        await failPayment({ fault: '503', match: { operation: 'refund' } });
        return support.call(refund(chiara, 3_990, 'the frother does not turn on'));
      },
    },
    {
      comes: 'POLICY_DENY',
      play: ({ support }) =>
        support.call({ says: 'takes refund re_2 back', tool: 'payments/cancel_refund', args: { id: 're_2' } }),
    },
    {
      comes: 'in_doubt',
      play: (stage) => loseTransfer(stage, samuel, 8_900, 'the kettle leaks and the card has expired'),
    },
    {
      comes: 'escalated',
      play: (stage) => meetRefusal(stage, leila, 4_300, 'the scale shows half the weight'),
    },
    { comes: 'succeeded', play: ({ support }) => support.call(voucher(nora, 4_000, 'for the trouble')) },
    { comes: 'BUDGET_WARNING', play: ({ support }) => support.call(voucher(hugo, 4_500, 'the jug came a week late')) },
    { comes: 'succeeded', play: ({ support }) => support.call(mail(nora, 'Your refund is on its way')) },
    { comes: 'succeeded', play: ({ support }) => support.call(mail(chiara, 'We have refunded the milk frother')) },
    { comes: 'succeeded', play: ({ support }) => support.call(mail(hugo, 'A voucher for your patience')) },
    { comes: 'RATE_EXCEEDED', play: ({ support }) => support.call(mail(aylin, 'We are looking at your grinder')) },
    {
      comes: 'POLICY_DENY',
      play: ({ support }) => support.call(refund(tomas, 64_900, 'he changed his mind')),
    },
    { comes: 'succeeded', play: (stage) => parcel(stage, 'ship') },
  ];
}
