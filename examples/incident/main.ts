/**
 * An incident, handled by an agent that only reads `valid_next_actions`: parallel regions, an escalation that comes
 * back where it left, a reminder that fires by itself. Then a second try from a past step, beside the first. Exits 1 if
 * the statechart is not kept.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGateway, isSuccess, type SuccessReply } from '../../src/index.ts';
import { walk } from './curious-agent.ts';
import { workflow } from './incident.workflow.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'incident-'));
const gateway = await createGateway({ workflows: [workflow], file: path.join(folder, 'recourse.db') });

type Regions = { readonly mitigation: string; readonly communication: string };
type State = { readonly value: string | { readonly handling: Regions } };

const valueOf = (reply: SuccessReply | undefined) => (reply?.state as State | undefined)?.value;

function tell(reply: SuccessReply): void {
  const value = valueOf(reply);
  const where = typeof value === 'object' ? `${value.handling.mitigation} + ${value.handling.communication}` : value;
  console.log(`  ${String(reply.seq).padStart(2)} ${reply.action.padEnd(13)} → ${where}`);
}

async function goOn(session: string, contrary: boolean): Promise<readonly SuccessReply[]> {
  const view = await gateway.sessions.look(session);
  assert.ok(!('error' in view));
  return walk(view.valid_next_actions, contrary, async (action) => {
    const reply = await gateway.handleStep({ action, session });
    if (isSuccess(reply)) tell(reply);
    return reply;
  });
}

async function kindsIn(session: string): Promise<readonly string[]> {
  const page = await gateway.sessions.history(session);
  assert.ok('entries' in page);
  return page.entries.map(({ kind }) => kind);
}

/** Over when both regions are, and not a step before. */
function assertEndsWithBoth(replies: readonly SuccessReply[]): void {
  const last = replies.at(-1);
  assert.ok(last?.done === true && valueOf(last) === 'closed', 'it never ended');
  assert.ok(replies.slice(0, -1).every(({ done }) => done !== true));
  const taken = replies.map(({ action }) => action);
  assert.ok(taken.indexOf('confirm') < taken.indexOf('announce_end'));
}

/** After an escalation both regions go on where they stood, and not where they began. */
function assertComesBack(replies: readonly SuccessReply[]): void {
  const at = replies.findIndex(({ action }) => action === 'escalate');
  assert.equal(valueOf(replies[at]), 'escalated');
  assert.equal(replies[at + 1]?.action, 'hand_back');
  const back = valueOf(replies[at + 1]);
  assert.ok(typeof back === 'object');
  const { mitigation, communication } = back.handling;
  assert.equal(mitigation, 'fixing');
  assert.notEqual(communication, 'silent');
}

try {
  const opened = await gateway.sessions.open('incident');
  assert.ok(!('error' in opened));
  console.log('the incident:');
  const replies = await goOn(opened.session, false);
  assertEndsWithBoth(replies);
  assertComesBack(replies);
  const kinds = await kindsIn(opened.session);
  assert.ok(kinds.includes('timer_fired'), 'nobody was reminded');
  console.log('  between two steps the reminder fired by itself: customers had heard nothing for too long');

  const forked = await gateway.sessions.fork(opened.session, { seq: 1 });
  assert.ok(isSuccess(forked) && forked.session !== null && forked.session !== opened.session);
  console.log('\nanother way, from step 1 on:');
  const others = await goOn(forked.session, true);
  assertEndsWithBoth(others);
  assert.notDeepEqual(
    others.map(({ action }) => action),
    replies.slice(1).map(({ action }) => action),
  );
  assert.deepEqual(await kindsIn(opened.session), kinds, 'the fork changed what it came from');

  const recourse = path.join(import.meta.dirname, '../../bin/recourse.js');
  const module = path.join(import.meta.dirname, 'incident.workflow.ts');
  const drawing = execFileSync(process.execPath, [recourse, 'render', module], { encoding: 'utf8' });
  assert.ok(drawing.startsWith('stateDiagram-v2'));
  console.log(`\nthe chart, for any Mermaid viewer:\n${drawing}`);
  console.log('over when both are over.');
} catch (error) {
  console.log(`\nthe promise was broken: ${String(error)}`);
  process.exitCode = 1;
} finally {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
}
