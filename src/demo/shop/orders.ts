/** The orders of the demo's shop, with their customers. Data only. */

export interface Order {
  readonly order: string;
  readonly customer: string;
  readonly email: string;
  readonly items: readonly string[];
  readonly total_cents: number;
}

const rows: readonly (readonly [customer: string, items: string, cents: number])[] = [
  ['Nora Lindqvist', 'Sencha 250 g; cast-iron teapot', 8_490],
  ['Tomás Ferreira', 'espresso machine Duetto', 64_900],
  ['Aylin Demir', 'hand grinder C40', 23_900],
  ['Jonas Weber', 'pour-over set; filters', 5_480],
  ['Chiara Conti', 'milk frother', 3_990],
  ['Samuel Okoro', 'gooseneck kettle', 8_900],
  ['Mei Tanaka', 'matcha bowl; bamboo whisk', 4_450],
  ['Pavel Novák', 'espresso beans 1 kg', 2_890],
  ['Leila Haddad', 'gooseneck kettle; scale', 14_300],
  ['Oskar Nowak', 'travel press', 3_450],
  ['Greta Olsen', 'Darjeeling 100 g; two cups', 3_960],
  ['Hugo Martin', 'cold-brew jug', 2_790],
];

const firstNumber = 1_041;
const mailOf = (customer: string): string =>
  `${customer.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().replace(' ', '.')}@example.com`;

export const orders: readonly Order[] = rows.map(([customer, items, total_cents], at) => ({
  order: `ord_${firstNumber + at}`,
  customer,
  email: mailOf(customer),
  items: items.split('; '),
  total_cents,
}));

/** Counted from 0, and round again at the end. */
export function orderAt(at: number): Order {
  const order = orders[at % orders.length];
  if (order === undefined) throw new RangeError(`bug: there is no order ${at}`);
  return order;
}
