/** What happened when: attempts and waits as bars on one scale, and below them every event with its meaning. */
import type { CallRecord, CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { lineOf } from '../../../../src/core/recovery/timeline.ts';
import { Card } from '../../parts/card.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';
import { lengthOf, nowMs } from '../../state/time.ts';
import { type Stretch, stretchesOf } from './attempts.ts';

export function Timeline({ story }: { readonly story: CallStoryView }) {
  const { records } = story;
  const startMs = Date.parse(records[0]?.at ?? '');
  const stretches = stretchesOf(records);
  const isOpen = stretches.some(({ toMs }) => toMs === null);
  const lastMs = Date.parse(records.at(-1)?.at ?? '') - startMs;
  const endMs = Math.max(1, isOpen ? nowMs.value - startMs : lastMs);
  return (
    <Card title="What happened" extra={<span class="quiet number">{lengthOf(endMs)}</span>}>
      {stretches.length > 0 && (
        <ol class="bars">
          {stretches.map((stretch) => (
            <Bar key={stretch.fromMs + stretch.name} stretch={stretch} endMs={endMs} />
          ))}
        </ol>
      )}
      <ol class="events">
        {records.map((record) => (
          <Event key={record.position} record={record} startMs={startMs} />
        ))}
      </ol>
      <Links story={story} />
    </Card>
  );
}

function Bar({ stretch, endMs }: { readonly stretch: Stretch; readonly endMs: number }) {
  const toMs = stretch.toMs ?? endMs;
  const left = (stretch.fromMs / endMs) * 100;
  const width = ((toMs - stretch.fromMs) / endMs) * 100;
  return (
    <li class="bar-row">
      <span class="bar-name">{stretch.name}</span>
      <span class="bar-room" aria-hidden="true">
        <span class={`bar bar-${stretch.kind}`} style={{ left: `${left}%`, width: `${Math.max(0.6, width)}%` }} />
      </span>
      <span class="number quiet">
        {lengthOf(toMs - stretch.fromMs)}
        {stretch.toMs === null && ' so far'}
      </span>
    </li>
  );
}

function Event({ record, startMs }: { readonly record: CallRecord; readonly startMs: number }) {
  const afterMs = Date.parse(record.at) - startMs;
  const said = lineOf({
    kind: record.kind,
    timeMs: Date.parse(record.at),
    body: JSON.stringify(record.body),
    payloads: record.payloads,
  });
  return (
    <li class={`event event-${said?.what ?? 'plain'}`}>
      <span class="number quiet event-time" title={record.at}>
        +{lengthOf(afterMs)}
      </span>
      <span>
        <strong>{record.kind.replaceAll('_', ' ')}</strong>{' '}
        {said === null ? (
          <span class="quiet">{record.meaning}</span>
        ) : (
          <>
            {said.what}: <Foreign text={said.says} max={400} />
          </>
        )}
      </span>
      <span class="event-clock">
        <Time at={record.at} />
      </span>
    </li>
  );
}

/** Where somebody decides, or decided. */
function Links({ story: { approvals, tickets } }: { readonly story: CallStoryView }) {
  if (approvals.length + tickets.length === 0) return null;
  return (
    <p class="row event-links">
      {approvals.map((id) => (
        <a key={id} href={linkTo('inbox', id)}>
          approval {id}
        </a>
      ))}
      {tickets.map((id) => (
        <a key={id} href={linkTo('inbox', id)}>
          ticket {id}
        </a>
      ))}
    </p>
  );
}
