/** The list of what waits, what is due first at the top. The row that is chosen is marked and scrolled to. */
import { useEffect, useRef } from 'preact/hooks';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Age } from '../../parts/time.tsx';
import type { WaitingItem } from '../../state/inbox.ts';
import { linkTo } from '../../state/route.ts';

const kinds: Readonly<Record<WaitingItem['kind'], readonly [Tone, string]>> = {
  approval: ['held', 'Approval'],
  ticket: ['busy', 'Ticket'],
  doubt: ['doubt', 'In doubt'],
};

interface InboxListProps {
  readonly items: readonly WaitingItem[];
  readonly chosen: string;
}

export function InboxList({ items, chosen }: InboxListProps) {
  const row = useRef<HTMLAnchorElement>(null);
  useEffect(() => row.current?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <ul class="inbox-list card" aria-label="What waits for a person">
      {items.map((item) => {
        const [tone, word] = kinds[item.kind];
        const isChosen = item.id === chosen;
        return (
          <li key={item.id}>
            <a
              href={linkTo('inbox', item.id)}
              class="inbox-row"
              aria-current={isChosen ? 'true' : undefined}
              ref={isChosen ? row : null}
            >
              <span class="row spread">
                <Badge tone={tone}>{word}</Badge>
                <span class="quiet">
                  {item.overdue ? <b class="overdue">overdue</b> : null}{' '}
                  {item.due_at === null ? <Age at={item.opened_at} /> : <Countdown to={item.due_at} over="due" />}
                </span>
              </span>
              <span class="inbox-tool">
                <Foreign text={item.tool} max={80} />
              </span>
              <span class="quiet">
                asked by <Foreign text={item.agent} max={60} />
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
