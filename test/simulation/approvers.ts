/**
 * The people of a simulated world: they look at what is pending, approve, change, deny and take back, at whichever
 * gateway answers. Some ask for what they may not do; each of them says it again when nobody answered.
 */
import { type Approval, type Decider, nameOf } from '../../src/core/approval/approval.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { createApprovals } from '../../src/shell/approval/approvals.ts';
import type { Decided } from '../../src/shell/approval/approval-service.ts';
import type { createClients } from './clients.ts';
import type { Coverage } from './coverage.ts';
import type { MemoryState } from './memory-state.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { agents, people } from './approval-setting.ts';
import type { Witness } from './witness.ts';

export interface ApproverWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly witness: Witness;
  readonly state: MemoryState;
  readonly coverage: Coverage;
  readonly clients: Pick<ReturnType<typeof createClients>, 'send' | 'later'>;
}

const acts = { approve: 7, edit: 2, deny: 1.5, revoke: 1 } as const;
export type Act = keyof typeof acts;

const tenant = 'acme';
export const person = (name: string): Decider => ({ kind: 'person', tenant, name });

export function createApprovers({ scheduler, random, witness, state, coverage, clients }: ApproverWorld) {
  const scope = { tenant, agent: null };

  /** One word of one of them. What they change is the amount, now and then to what another call asks for. */
  const say = (act: Act, id: string, by: Decider, careful = false, tries = 2): void => {
    const word = act === 'edit' ? 'approve' : act;
    const approval = state.approvals.get(id);
    if (approval !== undefined) coverage.hit(`a person: ${act}`, approval.state);
    witness.approvals.says(nameOf(by), word, id);
    const amount = random.pick([1, 2, 3, 5, 10]);
    clients.send(
      `${nameOf(by)} ${act} ${id}`,
      async (gateway): Promise<Decided | null> => {
        const service = createApprovals(gateway.shell() as never);
        const seen = careful || act === 'edit' ? await service.read(id, scope) : null;
        const shown = careful && seen !== null ? { shown: seen.shown } : {};
        switch (act) {
          case 'approve':
            return service.approve(id, by, shown);
          case 'edit': {
            if (seen === null) return null;
            const args = { ...((seen.edited_args ?? seen.args) as JsonObject), amount };
            return service.approve(id, by, { ...shown, args });
          }
          case 'deny':
            return service.deny(id, by, { ...shown, reason: 'not now' });
          case 'revoke':
            return service.revoke(id, by, {});
          default:
            return act satisfies never;
        }
      },
      (decided) => {
        scheduler.say(
          () =>
            `${nameOf(by)} hears of ${id}: ${decided?.ok === true ? decided.approval.state : (decided?.problem ?? 'nothing')}`,
        );
        if (decided?.ok === true) heardYes(id, decided);
        else if (decided?.problem === 'own_request') coverage.hit('a person: asked for it', 'pending');
      },
      () => (tries > 0 ? say(act, id, by, careful, tries - 1) : undefined),
    );
  };

  /** What a person was told is decided is on record as decided. */
  const heardYes = (id: string, { approval }: Extract<Decided, { ok: true }>) => {
    const row = state.approvals.get(id);
    if (row === undefined || (approval.state === 'granted' && row.state === 'pending'))
      witness.breaks('votes', `a person was told that ${id} is ${approval.state}, on record it is ${row?.state}`);
  };

  const pick = (): Approval | null => {
    const rows = [...state.approvals.values()];
    const open = rows.filter((row) => row.state === 'pending');
    const decided = rows.filter((row) => row.state === 'granted' || row.state === 'denied' || row.state === 'used');
    const group = random.weighted({ open: 8, decided: 2, any: 0.5 });
    const among = group === 'open' ? open : group === 'decided' ? decided : rows;
    return among.length === 0 ? null : random.pick(among);
  };

  return {
    say,
    /** Somebody looks at what there is, and says something about one of it. */
    look(): void {
      const approval = pick();
      if (approval === null) return;
      const decided = approval.state !== 'pending';
      const act = decided && random.chance(0.6) ? 'revoke' : random.weighted(acts);
      const own: Decider = { kind: 'client', tenant, agent: random.pick([approval.agent, ...agents]) };
      const by = random.weighted({ person: 10, own: approval.terms.clientMayApprove ? 8 : 0.5, agent: 0.5 });
      const who = by === 'own' ? own : person(by === 'agent' ? approval.agent : random.pick(people));
      // Two at once: one of them finds that the other was faster.
      if (random.chance(0.3)) say(random.weighted(acts), approval.id, person(random.pick(people)), random.chance(0.5));
      say(act, approval.id, who, random.chance(0.5));
    },
  };
}
