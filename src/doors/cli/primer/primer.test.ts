import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOf } from '../../../../test/support/open-gateway.ts';
import { createGateway, partial } from '../../../index.ts';
import { playStory, type Stage } from './play-primer.ts';
import { createBar } from './primer-bar.ts';
import { story } from './primer-story.ts';
import { type PrimerParts, runWalk } from './primer.ts';
import { readCommandLine } from '../arguments/read-command-line.ts';
import type { Terminal } from '../terminal.ts';

/** One of each; what a later version can refuse besides belongs here too. */
const kinds = [
  'success',
  'success replayed',
  'success partial',
  'pending',
  'unknown_action UnknownAction none',
  'validation_failed InputInvalid',
  'validation_failed InputTooLarge',
  'validation_failed KeyReused none',
  'action_in_flight ActionInFlight none',
  'action_timeout ExecutionTimeout unknown',
  'action_error ExecutionFailed none',
  'action_error ExecutionFailed unknown',
  'action_error NotFound none',
  'action_error OutputMalformed unknown',
  'cancelled ToolCancelled unknown',
  'fenced Fenced none',
  'cancelled TurnCancelled none',
  'cancelled SessionCancelled none',
  'session_error UnknownSession none',
  'session_error StaleSequence none',
  'denied DAEMON_NOT_READY none',
];

function kindOf({ expect }: (typeof story)[number]): string {
  const { error, code, effect, action, pending, replayed, errors } = expect;
  if (error !== undefined) return [error, code, effect].filter((each) => each !== undefined).join(' ');
  if (action !== undefined)
    return `success${replayed === true ? ' replayed' : ''}${errors === undefined ? '' : ' partial'}`;
  return pending === true ? 'pending' : 'act';
}

test('the story expects one of each kind of reply', () => {
  const told = new Set(story.map(kindOf));
  for (const kind of kinds) assert.ok(told.has(kind), kind);
});

test('every step says something and teaches something, in one short line', () => {
  for (const { say, learn } of story) for (const line of [say, learn]) assert.match(line, /^[A-Z`][^\n]{10,98}[.]$/);
});

const verified = { records: 1, epochs: 1, payloads: 0, erased: 0, problems: [], head: null };

test('a reply that is not the expected one is noticed, and ends with 1', async (t) => {
  const bar = createBar(partial);
  const file = `${folderOf(t)}/primer.db`;
  // A bar without a till: the story expects to be able to pay.
  const tools = bar.tools.filter(({ name }) => name !== 'pay');
  const gateway = await createGateway({ tools, file, onNotice: () => undefined });
  const stage = { gateway, pause: async () => undefined, verify: async () => verified };
  const early = story.slice(0, 8);
  const told: boolean[] = [];
  assert.equal(
    await playStory(early, { ...stage, bar } satisfies Stage, ({ asExpected }) => told.push(asExpected)),
    false,
  );
  assert.ok(told.includes(true) && told.includes(false));
  await gateway.close();
});

test('the command says which step went otherwise', async () => {
  let printed = '';
  let said = '';
  const terminal: Terminal = {
    print: (text) => void (printed += text),
    tell: (text) => void (said += text),
    paint: (_, text) => text,
    paintTold: (_, text) => text,
    progress: null,
    env: {},
    openScreen: null,
    onStop: () => () => undefined,
  };
  let removed = 0;
  const silent = async () => ({ error: 'internal_error' });
  const parts: PrimerParts = {
    partial,
    openStage: async () => ({
      gateway: {
        handle: silent,
        reply: silent,
        openSession: async () => 'ses_1',
        cancel: async () => 'not_found',
        status: () => ({ gates: [] }),
        close: async () => undefined,
      },
      pause: async () => undefined,
      verify: async () => verified,
      complaints: () => ['the gateway noticed something'],
      remove: async () => void (removed += 1),
    }),
  };
  const command = readCommandLine(['primer']);
  assert.ok(command.kind === 'run');
  // A step that stops a body would wait for one that begins, and nothing begins here.
  const stopping = story.findIndex(({ act }) => act.kind === 'ask' && act.stop === true);
  assert.ok(stopping > 0);
  assert.equal(await runWalk(command, parts, terminal, story.slice(0, stopping)), 1);
  assert.match(printed, /✗ the story expected \{"action":"take_order"/);
  assert.match(said, /recourse: the gateway noticed something\n.*step 'An agent takes an order\.' went otherwise/s);
  assert.equal(removed, 1);
});
