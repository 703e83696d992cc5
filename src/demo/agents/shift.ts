/**
 * The second part of the demo: the agents go on with their day, so that the page lives. Bounded in turns, and in how
 * much it leaves for a person.
 */
import { type Order, orderAt } from '../shop/orders.ts';
import { euros, type Stage } from './stage.ts';
import { askForRefund, loseTransfer } from './story.ts';

/** About an hour. */
export const maxTurns = 1_500;
const maxOpenApprovals = 3;
const turnEveryMs = 1_600;
const longerByMs = 350;

const reasons = ['it came too late', 'the colour is another one', 'a cup was missing', 'the lid does not close'];
const reasonAt = (turn: number): string => reasons[turn % reasons.length] ?? '';

type Turn = (stage: Stage, turn: number) => Promise<unknown>;

const readOrder: Turn = ({ support }, turn) => readOf(support, orderAt(turn));

function readOf(agent: Stage['support'], { order }: Order): Promise<unknown> {
  return agent.call({ says: `reads order ${order}`, tool: 'shop/get_order', args: { order } });
}

const listRefunds: Turn = ({ support }, turn) => {
  const { order } = orderAt(turn);
  return support.call({ says: `looks at the refunds of ${order}`, tool: 'payments/refunds_of', args: { order } });
};

const smallRefund: Turn = ({ support }, turn) => {
  const amount_cents = 350 + ((turn * 170) % 2_000);
  const [{ order }, reason] = [orderAt(turn), reasonAt(turn)];
  const says = `refunds ${euros(amount_cents)} of ${order}: ${reason}`;
  return support.call({ says, tool: 'payments/refund', args: { order, amount_cents, reason } });
};

const busyRead: Turn = async (stage, turn) => {
  stage.failRead(orderAt(turn).order);
  await readOrder(stage, turn);
};

const writeMail: Turn = ({ support }, turn) => {
  const { customer, email: to, order } = orderAt(turn);
  const args = { to, subject: `About ${order}`, text: `Hello ${customer},\n\nwe have looked at ${order}.` };
  return support.call({ says: `writes to ${customer} about ${order}`, tool: 'shop/send_mail', args });
};

const giveVoucher: Turn = ({ support }, turn) => {
  const { customer } = orderAt(turn);
  const args = { customer, amount_cents: 1_000, reason: reasonAt(turn) };
  return support.call({ says: `gives ${customer} a voucher of €10.00`, tool: 'shop/issue_voucher', args });
};

const largeRefund: Turn = (stage, turn) => {
  if (stage.people.approvals() >= maxOpenApprovals) return readOrder(stage, turn);
  return askForRefund(stage, orderAt(turn), 6_000 + ((turn * 1_130) % 20_000), reasonAt(turn));
};

/** One doubt at a time is enough. */
const transfer: Turn = async (stage, turn) => {
  if (stage.people.doubts() === 0)
    return loseTransfer(stage, orderAt(turn), 2_500 + ((turn * 310) % 5_000), reasonAt(turn));
  return listRefunds(stage, turn);
};

/** One step of one parcel for each turn; every third parcel is shipped too soon once. */
function createParcels(): Turn {
  const actions = ['pick', 'pack', 'ship'];
  let [session, at, parcel] = ['', 0, 0];
  return async ({ warehouse }) => {
    const { order } = orderAt(parcel + 6);
    if (at === 0) session = await warehouse.open('parcel');
    if (at === 1 && parcel % 3 === 2)
      await warehouse.step({ says: `ships ${order}`, session, action: 'ship', inputs: { order } });
    const action = actions[at] ?? '';
    await warehouse.step({ says: `${action}s ${order}`, session, action, inputs: { order } });
    at = (at + 1) % actions.length;
    if (at === 0) parcel += 1;
  };
}

export async function workShift(stage: Stage): Promise<void> {
  const parcels = createParcels();
  const turns: readonly Turn[] = [
    readOrder,
    smallRefund,
    parcels,
    listRefunds,
    writeMail,
    parcels,
    readOrder,
    busyRead,
    parcels,
    largeRefund,
    writeMail,
    parcels,
    smallRefund,
    giveVoucher,
    parcels,
    transfer,
  ];
  for (let turn = 0; turn < maxTurns; turn++) {
    await stage.pause(turnEveryMs + (turn % 4) * longerByMs);
    await turns[turn % turns.length]?.(stage, turn);
  }
}
