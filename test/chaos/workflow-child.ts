/**
 * The process that is killed: walks several workflow sessions, each by two agents at once, with and without keys.
 * Prints each step before it is asked and each reply when it has come. Never ends by itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createGateway } from '../../src/index.ts';
import { createRandom } from '../simulation/random.ts';
import type { ChildLine } from './kill-child.ts';
import type { StepOrders, StepRequest } from './workflow-round.ts';
import { chaosWorkflows } from './workflow-world.ts';

const { file, log, seed, round, sessions } = JSON.parse(process.argv[2] ?? '{}') as StepOrders;
const agentsPerSession = 2;
const random = createRandom(seed, `steps of round ${round}`);
const say = (line: ChildLine<StepRequest>) => process.stdout.write(`${JSON.stringify(line)}\n`);

const gateway = await createGateway({
  file,
  workflows: chaosWorkflows(log),
  agent: 'chaos',
  limits: { sweepEveryMs: 20 },
  onNotice: (notice) => {
    if (notice.kind !== 'recovered') process.stderr.write(`unexpected notice: ${JSON.stringify(notice)}\n`);
  },
});
say({ line: 'opened', role: gateway.role });

let asked = 0;

async function walkForEver(session: string): Promise<void> {
  for (;;) {
    const view = await gateway.sessions.look(session);
    const next = 'error' in view ? [] : view.valid_next_actions;
    // What the process before left in doubt is for somebody else to settle.
    if (next.length === 0) await pause(20);
    else await step(session, random.pick(next));
  }
}

async function step(session: string, action: string): Promise<void> {
  const number = asked++;
  const mark = `r${round}-${number}`;
  const request: StepRequest = { session, action, inputs: { mark }, ...(random.chance(0.5) ? { key: mark } : {}) };
  say({ line: 'asked', number, request });
  say({ line: 'answered', number, reply: await gateway.handleStep(request) });
}

await Promise.all(sessions.flatMap((session) => Array.from({ length: agentsPerSession }, () => walkForEver(session))));
