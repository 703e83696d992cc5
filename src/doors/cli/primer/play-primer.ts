/**
 * Runs the primer's story on a real gateway, step by step, and compares each reply with the expected one. Prints
 * nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../core/values/json.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { VerifyReport } from '../../../shell/look/inspect.ts';
import type { Bar } from './primer-bar.ts';
import { type Act, type Step, theSession } from './primer-story.ts';

/** The part of a gateway that the story needs. */
export interface StoryGateway {
  handle(request: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  reply(callId: string): Promise<unknown>;
  openSession(): Promise<string>;
  cancel(target: { readonly session: string }): Promise<string>;
  status(): { readonly gates: readonly { readonly gate: string; readonly configured: boolean }[] };
  close(): Promise<void>;
}

export interface Stage {
  readonly gateway: StoryGateway;
  readonly bar: Bar;
  /** Resolves a little later. */
  readonly pause: () => Promise<void>;
  /** Verifies the journal, once the gateway is closed. */
  readonly verify: () => Promise<VerifyReport>;
}

export interface Told {
  readonly step: Step;
  readonly request: unknown;
  readonly reply: unknown;
  readonly asExpected: boolean;
}

const maxLooks = 2_000;

export async function playStory(story: readonly Step[], stage: Stage, onTold: (told: Told) => void): Promise<boolean> {
  const scene: Scene = { session: '', lastCall: '' };
  let good = true;
  for (const step of story) {
    const { request, reply } = await play(step, scene, stage);
    if (isObject(reply) && typeof reply['call_id'] === 'string') scene.lastCall = reply['call_id'];
    const asExpected = fits(reply, step.expect);
    good &&= asExpected;
    onTold({ step, request, reply, asExpected });
  }
  return good;
}

/** What later steps refer to. */
interface Scene {
  session: string;
  lastCall: string;
}

interface Exchange {
  readonly request: unknown;
  readonly reply: unknown;
}

async function play({ act, expect }: Step, scene: Scene, stage: Stage): Promise<Exchange> {
  const { gateway, bar } = stage;
  switch (act.kind) {
    case 'ask':
      return playAsk(act, scene, stage);
    case 'look_up':
      bar.release();
      return { request: { reply: scene.lastCall }, reply: await lookUp(scene.lastCall, expect, stage) };
    case 'open_session':
      scene.session = await gateway.openSession();
      return { request: { open_session: {} }, reply: { session: scene.session } };
    case 'cancel_session':
    case 'cancel_turn': {
      const target = { session: scene.session, ...(act.kind === 'cancel_turn' ? { turn: act.turn } : {}) };
      return { request: { cancel: target }, reply: { result: await gateway.cancel(target) } };
    }
    case 'close':
      await gateway.close();
      return { request: { close: {} }, reply: { result: 'closed' } };
    default:
      return unreachable(act);
  }
}

async function playAsk(act: Extract<Act, { kind: 'ask' }>, scene: Scene, { gateway, bar }: Stage): Promise<Exchange> {
  const { request: asked, mood, release, stop } = act;
  const request = isObject(asked) && asked['session'] === theSession ? { ...asked, session: scene.session } : asked;
  if (mood !== undefined) bar.spoil(mood);
  if (release === true) bar.release();
  if (stop !== true) return { request, reply: await gateway.handle(request) };
  const controller = new AbortController();
  const begun = bar.nextBegins();
  const reply = gateway.handle(request, { signal: controller.signal });
  await begun;
  controller.abort();
  return { request, reply: await reply };
}

/** The late answer is recorded in its own time, so it is looked for until it is there. */
async function lookUp(callId: string, expect: Step['expect'], { gateway, pause }: Stage): Promise<unknown> {
  for (let looks = 1; ; looks++) {
    const reply = await gateway.reply(callId);
    if (looks === maxLooks || fits(reply, expect)) return reply;
    await pause();
  }
}

function fits(reply: unknown, expect: Step['expect']): boolean {
  return isObject(reply) && Object.entries(expect).every(([name, value]) => isDeepStrictEqual(reply[name], value));
}
