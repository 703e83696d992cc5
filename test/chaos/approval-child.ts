/**
 * The process that is killed: owns the store; agents ask for deferred calls, people approve, change, deny and revoke
 * them, and the agents ask again, many at once. Says each ask and decision before it is made and what came of it. Never
 * ends by itself.
 */
import type { Decider } from '../../src/core/approval/approval.ts';
import type { Reply } from '../../src/index.ts';
import { createRandom } from '../simulation/random.ts';
import { openApprovalGateway } from './approval-gateway.ts';
import type { ApprovalLine, ApprovalOrders, ApprovalRequest, Decision, Verb } from './approval-round.ts';
import { askedAmount, editedAmount, kindNames, termsOf } from './approval-world.ts';

const { file, ledger, seed, round, death } = JSON.parse(process.argv[2] ?? '{}') as ApprovalOrders;
const atOnce = 8;
/** How often an agent asks for the same before it turns to something else. */
const patience = 6;
const random = createRandom(seed, `cases of round ${round}`);
const say = (line: ApprovalLine) => process.stdout.write(`${JSON.stringify(line)}\n`);

const { gateway, approvals } = await openApprovalGateway(
  file,
  ledger,
  (notice) => {
    if (notice.kind !== 'recovered') process.stderr.write(`unexpected notice: ${JSON.stringify(notice)}\n`);
  },
  death,
);
say({ line: 'opened', role: gateway.role });

let spoken = 0;

async function ask(request: ApprovalRequest, alone: boolean): Promise<Reply> {
  const number = spoken++;
  say({ line: 'asked', number, request, alone });
  const reply = await gateway.handle(request);
  say({ line: 'answered', number, reply });
  return reply;
}

async function decide(approval: string, verb: Verb, by: string, args: ApprovalRequest['args']): Promise<void> {
  const number = spoken++;
  const decision: Decision = { approval, verb, by };
  say({ line: 'deciding', number, decision });
  const who: Decider = { kind: 'person', tenant: 'default', name: by };
  const decided =
    verb === 'approve' || verb === 'edit'
      ? await approvals.approve(approval, who, verb === 'edit' ? { args: { ...args, amount: editedAmount } } : {})
      : await approvals[verb](approval, who, { reason: `${by} says so` });
  say({ line: 'decided', number, state: decided.ok ? decided.approval.state : null });
}

const approvalIn = (reply: Reply): string | null =>
  'error' in reply && reply.error === 'denied' && reply.resolution.type === 'pending_approval'
    ? reply.resolution.approval_id
    : null;

/** What people do about one approval; some of it one after the other, some of it at once. */
async function decideSomehow(id: string, { tool, args }: ApprovalRequest): Promise<'open' | 'decided'> {
  const { needed } = termsOf(tool);
  const approve = async (first: Verb) => {
    await decide(id, first, 'ana', args);
    if (needed > 1) await decide(id, 'approve', 'ben', args);
  };
  switch (random.pick(['approve', 'approve', 'approve', 'edit', 'edit', 'deny', 'revoke', 'race', 'leave'] as const)) {
    case 'approve':
      await approve('approve');
      return 'decided';
    case 'edit':
      await approve('edit');
      return 'decided';
    case 'deny':
      await decide(id, 'deny', 'ben', args);
      return 'decided';
    case 'revoke':
      await approve('approve');
      await decide(id, 'revoke', 'cleo', args);
      return 'decided';
    case 'race':
      await Promise.all([approve('approve'), decide(id, 'deny', 'cleo', args), decide(id, 'revoke', 'dora', args)]);
      return 'decided';
    case 'leave':
      return 'open';
    default:
      throw new Error('no such way');
  }
}

async function aCase(number: number): Promise<void> {
  const tool = random.pick(kindNames);
  const mark = `r${round}-${number}`;
  const request: ApprovalRequest = {
    tool,
    args: { mark, amount: askedAmount },
    ...(random.chance(0.4) ? { key: mark } : {}),
  };
  const crowd = random.chance(0.25) ? random.between(2, 4) : 1;
  for (let turn = 0; turn < patience; turn++) {
    const replies = await Promise.all(Array.from({ length: crowd }, () => ask(request, crowd === 1)));
    const ids = new Set(replies.map(approvalIn));
    ids.delete(null);
    const [id] = ids;
    if (id === undefined || id === null) return;
    if ((await decideSomehow(id, request)) === 'open') return;
  }
}

let cases = 0;

async function workForEver(): Promise<void> {
  for (;;) await aCase(cases++);
}

await Promise.all(Array.from({ length: atOnce }, workForEver));
