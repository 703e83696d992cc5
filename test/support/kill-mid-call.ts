/** A process that is killed while the body of a call runs, with its effect already in the world. */
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import type { EffectClass } from '../../src/core/taxonomy.ts';
import { eventually } from './eventually.ts';
import { folderOf } from './open-gateway.ts';
import { withReader } from './read-journal.ts';
import { type ChildOrders, type Dead, startChild } from './start-child.ts';
import { type Execution, toolOf } from './world.ts';

export interface DeadMidCall extends Dead {
  /** A second call that was under way; the same one if none was asked for. */
  readonly witness: Execution;
}

const placesIn = (folder: string) => ({ file: path.join(folder, 'recourse.db'), log: path.join(folder, 'world.log') });

export async function killMidCall(
  t: TestContext,
  effect: EffectClass,
  request: object = {},
  witness: EffectClass | null = null,
): Promise<DeadMidCall> {
  const places = placesIn(folderOf(t));
  const wanted = [effect, ...(witness === null ? [] : [witness])];
  const calls = wanted.map((each) => ({ request: { tool: toolOf(each), args: { n: 1 }, ...request } }));
  const child = startChild(t, { ...places, calls, bodies: 'hang' });
  const began = await Promise.all(wanted.map((_, at) => child.next('began', at + 1)));
  await child.kill();
  const find = (each: EffectClass) =>
    began.find(({ execution }) => execution.tool === toolOf(each))?.execution as Execution;
  return { ...places, execution: find(effect), witness: find(witness ?? effect) };
}

/** A process whose call succeeded, with the success on record, that died before anybody got the reply. */
export async function killBeforeReply(t: TestContext, effect: EffectClass, request: object = {}): Promise<Dead> {
  const places = placesIn(folderOf(t));
  const calls: ChildOrders['calls'] = [{ request: { tool: toolOf(effect), args: { n: 1 }, ...request } }];
  const child = startChild(t, { ...places, calls, bodies: 'freeze' });
  const { execution } = await child.next('began');
  await withReader(places.file, (reader) =>
    eventually(
      'the success on record',
      async () => (await reader.call(execution.call_id as CallId))?.state === 'SUCCEEDED',
    ),
  );
  await child.kill();
  return { ...places, execution };
}
