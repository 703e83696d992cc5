/**
 * The refund that the primer opens with: a service whose answer is lost, called three times by a retry loop and three
 * times through a gateway. Runs it and writes it down; prints nothing.
 */
import { isObject } from '../../../core/values/json.ts';
import type { BarTool } from './primer-bar.ts';
import { harmless, type Paint } from '../terminal.ts';

const dollars = 40;
const asks = 3;
const order = 'order-1';
const request = { tool: 'refund', args: { order, dollars }, key: `refund-${order}` };

/** A service that does its work, and always loses the connection before it answers. */
export function createRefunds() {
  let refunds = 0;
  const refund = async (): Promise<never> => {
    refunds += 1;
    throw new Error('the connection was lost before the answer came');
  };
  const tool: BarTool = {
    name: 'refund',
    description: 'Gives the customer money back.',
    input: {
      type: 'object',
      properties: { order: { type: 'string' }, dollars: { type: 'integer' } },
      required: ['order', 'dollars'],
    },
    effect: 'plain',
    run: refund,
  };
  return { tool, refund, count: () => refunds };
}

export interface PlayedRefund {
  readonly byLoop: number;
  readonly byGateway: number;
  /** The replies of the gateway, in order. */
  readonly replies: readonly unknown[];
}

export async function playRefund(
  { refund, count }: ReturnType<typeof createRefunds>,
  handle: (request: unknown) => Promise<unknown>,
): Promise<PlayedRefund> {
  // Ignored: this is what the loop of the story does.
  for (let ask = 1; ask <= asks; ask++) await refund().catch(() => 'so the loop tries again');
  const byLoop = count();
  const replies: unknown[] = [];
  for (let ask = 1; ask <= asks; ask++) replies.push(await handle(request));
  return { byLoop, byGateway: count() - byLoop, replies };
}

export const wentAsTold = ({ byLoop, byGateway, replies }: PlayedRefund): boolean =>
  byLoop === asks && byGateway === 1 && replies.every((reply) => fieldOf(reply, 'effect') === 'unknown');

export function writeRefund({ byLoop, byGateway, replies }: PlayedRefund, paint: Paint): string {
  const numbered = (lines: readonly string[]) => lines.map((line, at) => `  ${at + 1}  ${line}\n`).join('');
  const total = (count: number) => `${count} ${count === 1 ? 'refund' : 'refunds'}, $${count * dollars}`;
  return [
    `A service refunds $${dollars}, and its answer is lost on the way. The agent hears nothing, and asks ${asks} times.\n`,
    `\n${paint('bold', 'In a retry loop')}\n${numbered(Array.from({ length: byLoop }, () => 'no answer'))}`,
    `     ${paint('red', total(byLoop))}\n`,
    `\n${paint('bold', 'Through Recourse, each time with the same key')}\n${numbered(replies.map(headOf))}`,
    `     ${paint(byGateway === 1 ? 'green' : 'red', total(byGateway))}\n`,
    `\nThe agent was told:  ${harmless(String(fieldOf(replies[0], 'message')))}\n`,
    `and its next move:   ${harmless(JSON.stringify(fieldOf(replies[0], 'resolution')))}\n`,
  ].join('');
}

/** The same for programs, in the form of every line of the primer. */
export function linesOfRefund({ byLoop, byGateway, replies }: PlayedRefund) {
  const { key: _, ...bare } = request;
  return [
    { say: 'A retry loop asks three times.', request: bare, reply: { refunds: byLoop } },
    ...replies.map((reply, at) => ({ say: `Through the gateway, ask ${at + 1}.`, request, reply })),
    { say: 'What the service did for the gateway.', request: { refunds: {} }, reply: { refunds: byGateway } },
  ];
}

function headOf(reply: unknown): string {
  const replayed = fieldOf(reply, 'replayed') === true ? ', replayed: true' : '';
  return harmless(`${String(fieldOf(reply, 'error'))}, effect: ${String(fieldOf(reply, 'effect'))}${replayed}`);
}

const fieldOf = (reply: unknown, name: string): unknown => (isObject(reply) ? reply[name] : undefined);
