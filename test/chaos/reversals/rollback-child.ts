/**
 * A gateway process that books three things, rolls its session back, and kills itself with SIGKILL at one act of that:
 * before the n-th commit, or once it was acknowledged, or when the body of a reversal has done its work.
 */
import type { Store } from '../../../src/ports/store.ts';
import { openGateway } from '../../../src/main.ts';
import { isSuccess } from '../../../src/index.ts';
import { limits, tripTools } from './trip-tools.ts';

const { file, ledger, at, fate } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly file: string;
  readonly ledger: string;
  readonly at: number;
  readonly fate: 'before' | 'after';
};

let act = -1;
let counting = false;

function dieIf(moment: 'before' | 'after'): void {
  if (counting && act === at && moment === fate) process.kill(process.pid, 'SIGKILL');
}

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const tools = tripTools(ledger, () => {
  if (!counting) return;
  act += 1;
  dieIf('before');
  dieIf('after');
});
const { gateway, shell } = await openGateway({ file, tools, limits, onNotice: () => undefined });
const { store } = shell.ports;
const dying: Pick<Store, 'commit'> = {
  async commit(transitions) {
    if (counting) act += 1;
    const own = act;
    if (counting && own === at && fate === 'before') process.kill(process.pid, 'SIGKILL');
    const results = await store.commit(transitions);
    if (counting && own === at && fate === 'after') process.kill(process.pid, 'SIGKILL');
    return results;
  },
};
Object.assign(shell.ports, {
  store: new Proxy(store, { get: (of, name) => (name === 'commit' ? dying.commit : Reflect.get(of, name)) }),
});

const session = await gateway.openSession();
for (const id of ['a', 'b', 'c']) {
  const reply = await gateway.call({ tool: 'book', args: { id }, session } as never);
  if (!isSuccess(reply)) throw new Error(JSON.stringify(reply));
}
say({ session });
counting = true;
const view = await gateway.reversals.rollBack(session, { by: 'ann', reason: 'chaos' });
counting = false;
say({ view, acts: act + 1 });
await gateway.close({ drain_seconds: 0 });
