/** Routes for people who look at calls: story, replay, golden, the journal as it is stored, and the health of tools. */
import type { CallStoryView, Shown } from '../../../core/http/look/call-look.ts';
import type { Replay } from '../../../core/recovery/replay.ts';
import type { Json } from '../../../core/values/json.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { StoredText } from '../../../shell/look/inspect.ts';
import type { ToldStory } from '../../../shell/look/call-looks.ts';
import type { ToolFigures } from '../../../shell/look/tool-health.ts';
import { type Answer, type Asked, json } from '../answer.ts';
import { callEntry, time, unknownCall, wholeId } from '../call-routes.ts';
import { textOf } from '../event-streams.ts';

const meantCall = ({ id, who, parts }: Asked): Promise<string | Answer> =>
  wholeId(id, 'look', (beginning) => parts.view.meant(beginning, { tenant: who.tenant, agent: null }));

export async function readCallStory(asked: Asked): Promise<Answer> {
  const id = await meantCall(asked);
  if (typeof id !== 'string') return id;
  const story = await asked.parts.looks.story(id, asked.who.tenant);
  return story === null ? unknownCall(id) : json(storyView(story));
}

function storyView(story: ToldStory): CallStoryView {
  const { call, effect, args, reply, ladder, decided, facts } = story;
  return {
    call: callEntry({ ...call, effect }),
    args: shown(args),
    reply: shown(reply),
    ladder,
    decided: decided === null ? null : { record: textOf(decided), at: time(decided.timeMs) },
    rule_ref: story.ruleRef,
    facts: facts as CallStoryView['facts'],
    timeline: story.timeline,
    records: story.records.map((record) => ({
      position: textOf(record),
      kind: record.kind,
      meaning: record.meaning,
      at: time(record.timeMs),
      hash: record.hash,
      body: parsed(record.body),
      payloads: record.payloads,
    })),
    approvals: story.approvals,
    tickets: story.tickets,
  };
}

const shown = (stored: StoredText): Shown =>
  stored.kind === 'text' ? { kind: 'text', value: parsed(stored.text) } : { kind: stored.kind };

/** The text itself if it is not JSON: a damaged journal can still be read. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

export async function replayCall(asked: Asked): Promise<Answer> {
  const id = await meantCall(asked);
  if (typeof id !== 'string') return id;
  const made = await asked.parts.looks.replay(id, asked.who.tenant);
  return made === null ? unknownCall(id) : json(replayView(made));
}

function replayView(made: Replay): object {
  switch (made.kind) {
    case 'equal':
      return { replay: 'equal', failures: made.failures, erased: made.erased };
    case 'different':
      return { replay: 'different', failures: made.failures, difference: made.first };
    case 'impossible':
      return { replay: 'impossible', missing: made.missing };
    default:
      return unreachable(made);
  }
}

export async function makeGolden(asked: Asked): Promise<Answer> {
  const id = await meantCall(asked);
  if (typeof id !== 'string') return id;
  const made = await asked.parts.looks.golden(id, asked.who.tenant);
  if (made === null) return unknownCall(id);
  return json('problem' in made ? { file: null, text: null, problem: made.problem } : { ...made, problem: null });
}

const noCalls: ToolFigures = {
  calls: 0,
  succeeded: 0,
  refused: 0,
  failed: 0,
  inDoubt: 0,
  waiting: 0,
  p50Ms: null,
  p95Ms: null,
  verdicts: [],
  lastAtMs: null,
};

export async function readToolHealth({ who, query, parts }: Asked): Promise<Answer> {
  const only = (query['tool'] ?? null) as string | null;
  const { calls, complete, sinceMs, tools } = await parts.looks.health(who.tenant, only);
  const drift = parts.status(who.tenant)['drift'];
  const drifted = Array.isArray(drift) ? drift.map(String) : [];
  const served = [...parts.looks.served()].filter(({ name }) => only === null || name === only);
  const names = new Set(served.map(({ name }) => name));
  const gone = [...tools.keys()].filter((name) => !names.has(name));
  const entryOf = (tool: string, effect: string, description: string, isServed: boolean) => {
    const { inDoubt, p50Ms, p95Ms, lastAtMs, ...counts } = tools.get(tool) ?? noCalls;
    return {
      tool,
      effect,
      description,
      served: isServed,
      drift: drifted.find((line) => line.startsWith(`${tool} `)) ?? null,
      ...counts,
      in_doubt: inDoubt,
      p50_ms: p50Ms,
      p95_ms: p95Ms,
      last_at: lastAtMs === null ? null : time(lastAtMs),
    };
  };
  return json({
    calls,
    complete,
    since: sinceMs === null ? null : time(sinceMs),
    tools: [
      ...served.map(({ name, effectClass, description }) => entryOf(name, effectClass, description, true)),
      ...gone.map((name) => entryOf(name, 'plain', '', false)),
    ],
  });
}
