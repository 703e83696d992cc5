/**
 * The process that is killed: owns the store and makes calls one by one or many at once, of every kind, with and
 * without keys, new and repeated. Prints each call before it is made and each reply when it has come. Never ends by
 * itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createGateway } from '../../src/index.ts';
import { createRandom } from '../simulation/random.ts';
import { chaosTools } from './chaos-tools.ts';
import type { ChildLine } from './kill-child.ts';
import type { Orders, Request } from './chaos-round.ts';

const { file, log, seed, round, oldKeys } = JSON.parse(process.argv[2] ?? '{}') as Orders;
const atOnce = 24;
/**
 * Who asks alone is served in another way than a crowd: a third of the rounds begins with one, a third has no other.
 */
const joinAfterMs = [Number.POSITIVE_INFINITY, 100, 0][round % 3] ?? 0;
const random = createRandom(seed, `calls of round ${round}`);
const say = (line: ChildLine<Request>) => process.stdout.write(`${JSON.stringify(line)}\n`);

const gateway = await createGateway({
  file,
  tools: chaosTools(log),
  agent: 'chaos',
  limits: { sweepEveryMs: 20 },
  onNotice: (notice) => {
    if (notice.kind !== 'recovered') process.stderr.write(`unexpected notice: ${JSON.stringify(notice)}\n`);
  },
});
say({ line: 'opened', role: gateway.role });

let asked = 0;

function aRequest(number: number): Request {
  const tool = random.pick(['append', 'append', 'append', 'charge', 'charge', 'look', 'decline'] as const);
  const mark = `r${round}-${number}`;
  switch (random.pick(['keyless', 'keyless', 'new key', 'new key', 'shared key', 'old key', 'refused'] as const)) {
    case 'new key':
      return { tool, args: { mark }, key: mark };
    case 'shared key': {
      // Few keys and many askers: the same call several times at the same moment.
      const shared = `r${round}-shared-${random.between(0, 7)}`;
      return {
        tool: 'append',
        args: { mark: shared },
        key: shared,
        ...(random.chance(0.5) ? { wait_seconds: 30 } : {}),
      };
    }
    case 'old key':
      return oldKeys.length === 0 ? { tool, args: { mark } } : random.pick(oldKeys);
    case 'refused':
      return random.chance(0.5) ? { tool: 'appendix', args: { mark: 'x' } } : { tool: 'append', args: {} };
    default:
      return { tool, args: { mark } };
  }
}

async function askForEver(): Promise<void> {
  for (;;) {
    const number = asked++;
    const request = aRequest(number);
    say({ line: 'asked', number, request });
    say({ line: 'answered', number, reply: await gateway.handle(request) });
  }
}

const first = askForEver();
if (joinAfterMs < Number.POSITIVE_INFINITY) await pause(joinAfterMs);
else await first;
await Promise.all(Array.from({ length: atOnce - 1 }, askForEver));
