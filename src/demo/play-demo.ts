/** Lets the agents play: first the story, then their shift. Ends early and quietly when the demo is stopped. */
import { setTimeout as pauseFor } from 'node:timers/promises';
import { createPeople } from './agents/await-people.ts';
import { maxTurns, workShift } from './agents/shift.ts';
import type { Stage } from './agents/stage.ts';
import { createStory } from './agents/story.ts';
import { type AgentName, createAgent, outcomeOf, type Told } from './agents/talk.ts';
import type { Shop } from './shop/serve-shop.ts';

export interface Played {
  /** Scenes that went otherwise than they should, a sentence each. */
  readonly wrong: readonly string[];
}

export interface PlayOrder {
  readonly once: boolean;
  readonly fast: boolean;
  readonly onTold: (told: Told) => void;
  readonly onGoingOn: () => void;
  readonly onTrouble: (problem: string) => void;
}

export interface PlayParts {
  readonly url: string;
  readonly keys: Readonly<Record<AgentName, string>>;
  readonly shop: Shop;
  readonly payments: string;
  readonly signal: AbortSignal;
}

/** All kinds of outcomes appear within twenty seconds. */
const sceneEveryMs = 800;

export async function playDemo(order: PlayOrder, parts: PlayParts): Promise<Played> {
  const stage = openStage(order, parts);
  const wrong: string[] = [];
  try {
    for (const { comes, play } of createStory()) {
      if (!order.fast) await stage.pause(sceneEveryMs);
      const outcome = outcomeOf(await play(stage));
      if (outcome !== comes) wrong.push(`${outcome} came where ${comes} was to come`);
    }
    if (order.once) return { wrong };
    order.onGoingOn();
    await workShift(stage);
    order.onTrouble(`the agents have done their ${maxTurns} turns and rest; the gateway goes on`);
  } catch (error) {
    // A stop ends what the agents are doing, wherever they are.
    if (!parts.signal.aborted) throw error;
  }
  return { wrong };
}

function openStage({ onTold, onTrouble }: PlayOrder, { url, keys, shop, payments, signal }: PlayParts): Stage {
  const agent = (name: AgentName) => createAgent({ name, url, key: keys[name], signal, onTold });
  const pause = async (delayMs: number) => void (await pauseFor(delayMs, undefined, { signal }));
  let keysMade = 0;
  return {
    support: agent('support'),
    warehouse: agent('warehouse'),
    pause,
    newKey: () => `demo-${++keysMade}`,
    failRead: (order) => shop.failNext(`/orders/${order}`, 1),
    async failPayment(rule) {
      const set = await fetch(`${payments}faults`, { method: 'POST', body: JSON.stringify(rule), signal });
      if (!set.ok) throw new Error(`bug: the fault ${JSON.stringify(rule)} is refused: ${await set.text()}`);
    },
    people: createPeople({
      pause,
      onFailure: (error) => {
        if (!signal.aborted) onTrouble(`an agent of the demo stopped waiting: ${String(error)}`);
      },
    }),
  };
}
