/** The recourse.yaml of the demo: a shop with two agents and three services. It is written into the demo's own folder. */

export interface DemoAddresses {
  /** Orders, mails and vouchers. */
  readonly shop: string;
  /** Refunds and transfers: the faulty upstream. */
  readonly payments: string;
}

const shopTools = `    timeout: 5s
    tools:
      get_order:
        description: Reads an order with its customer and items.
        request: { method: GET, path: '/orders/{order}' }
        input: &order
          type: object
          properties: { order: { type: string, pattern: '^ord_[0-9]{4}$' } }
          required: [order]
          additionalProperties: false
      pick:
        description: Takes the items of an order from the shelves.
        request: { method: POST, path: '/orders/{order}/pick' }
        input: *order
        effect: keyed
        dedupe_window: 24h
      pack:
        description: Packs the items of an order into a parcel.
        request: { method: POST, path: '/orders/{order}/pack' }
        input: *order
        effect: keyed
        dedupe_window: 24h
      ship:
        description: Hands the parcel over to the courier.
        request: { method: POST, path: '/orders/{order}/ship' }
        input: *order
        effect: keyed
        dedupe_window: 24h
      cancel:
        description: Cancels an order that was not packed yet.
        request: { method: POST, path: '/orders/{order}/cancel' }
        input: *order
        effect: keyed
        dedupe_window: 24h
      send_mail:
        description: Sends a mail to a customer.
        request: { method: POST, path: /mails }
        input:
          type: object
          properties:
            to: { type: string, minLength: 3, maxLength: 200 }
            subject: { type: string, minLength: 1, maxLength: 200 }
            text: { type: string, minLength: 1, maxLength: 2000 }
          required: [to, subject, text]
          additionalProperties: false
        effect: keyed
        dedupe_window: 24h
      issue_voucher:
        description: Gives a customer a voucher.
        request: { method: POST, path: /vouchers }
        input:
          type: object
          properties:
            customer: { type: string, minLength: 1, maxLength: 200 }
            amount_cents: { type: integer, minimum: 100, maximum: 100000 }
            reason: { type: string, minLength: 1, maxLength: 500 }
          required: [customer, amount_cents, reason]
          additionalProperties: false
        effect: keyed
        dedupe_window: 24h
`;

const paymentTools = `    timeout: 5s
    tools:
      refund:
        description: Refunds a part of an order to the card that paid it.
        request: { method: POST, path: /refunds, body: { order: '{order}', amount: '{amount_cents}' } }
        input: &refund
          type: object
          properties:
            order: { type: string, pattern: '^ord_[0-9]{4}$' }
            amount_cents: { type: integer, minimum: 1, maximum: 10000000 }
            reason: { type: string, minLength: 1, maxLength: 500 }
          required: [order, amount_cents, reason]
          additionalProperties: false
        effect: keyed
        dedupe_window: 24h
      refunds_of:
        description: Lists the refunds of an order.
        request: { method: GET, path: /refunds, query: { order: '{order}' } }
        input: *order
      cancel_refund:
        description: Takes a refund back.
        request: { method: DELETE, path: '/refunds/{id}' }
        input:
          type: object
          properties: { id: { type: string } }
          required: [id]
          additionalProperties: false
`;

const bankTools = `    timeout: 5s
    tools:
      transfer:
        description: Transfers money to the bank account of a customer.
        request: { method: POST, path: /refunds, body: { order: '{order}', amount: '{amount_cents}' } }
        input: *refund
        effect: plain

`;

const agents = `agents:
  support:
    default: deny
    rules:
      - permit: [shop/get_order, payments/refunds_of, shop/send_mail, shop/issue_voucher]
      - permit: payments/refund
        when: args.amount_cents <= 5000
      - defer: payments/refund
        when: args.amount_cents <= 50000
        expires: 1h
        reason: a person looks at refunds above 50 euros
      - deny: payments/refund
        reason: refunds above 500 euros are made by accounting
      - permit: bank/transfer
        when: args.amount_cents <= 10000
      - deny: payments/cancel_refund
        reason: a refund that was announced to a customer stays
    limits:
      - { match: shop/send_mail, rate: 3/minute }
    budgets:
      vouchers:
        match: shop/issue_voucher
        max: 100 EUR
        window: daily
        cost: double(args.amount_cents) / 100.0
        warn_at: 0.8
      refunds:
        match: payments/refund
        max: 5000 EUR
        window: daily
        cost: double(args.amount_cents) / 100.0
        warn_at: 0.8
  warehouse:
    default: deny
    rules:
      - permit: shop/get_order
      - permit: [shop/pick, shop/pack, shop/ship, shop/cancel]
        when: session.workflow == "parcel"

`;

const workflows = `workflows:
  parcel:
    description: From a paid order to a parcel on its way.
    context: { order: '', tracking: '' }
    initial: preparing
    actions:
      pick: { description: Takes the items from the shelves., tool: shop/pick, update: { order: inputs.order } }
      pack: { description: Packs them into a parcel., tool: shop/pack }
      ship: { description: Hands the parcel to the courier., tool: shop/ship }
      cancel: { description: Gives the order up., tool: shop/cancel }
    states:
      preparing:
        initial: paid
        on: { cancel: cancelled }
        states:
          paid: { on: { pick: picked } }
          picked: { on: { pack: packed } }
          packed: { on: { ship: shipped } }
          shipped: { type: final }
        on_done: on_its_way
      on_its_way: { type: final }
      cancelled: { type: final }
`;

/** INVARIANT: the keys and the store lie beside this file, so the folder of the demo is all that there is to remove. */
export const demoFile = ({ shop, payments }: DemoAddresses): string => `\
# A small shop with two agents: one answers customers, one sends parcels.
runtime: { store: recourse.db }

tools:
  shop:
    http: { url: ${shop} }
${shopTools}  payments:
    http: { url: ${payments} }
${paymentTools}  bank:
    # The same money by another way. The bank knows no keys: a transfer that is sent twice is made twice.
    http: { url: ${payments}, key: none }
${bankTools}${agents}${workflows}`;
