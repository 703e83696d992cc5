/** Decisions as they happen: filters, pause, pace, and a list that leads to each call. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/badge.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { isWriting } from '../../state/is-writing.ts';
import { live, type LiveState, startLive } from '../../state/live.ts';
import { usePageKeys } from '../../state/page-keys.ts';
import { changeQuery, route } from '../../state/route.ts';
import { filterCalls, filtersIn, hasFilters, noFilters } from './filters.ts';
import { LiveFilters } from './live-filters.tsx';
import { LiveHead, LiveRow } from './live-row.tsx';
import { Pace } from './pace.tsx';
import './live.css';

const rowHeight = 36;

export function LivePage() {
  useEffect(startLive, []);
  usePageKeys(keys);
  const [frozen, setFrozen] = useState<LiveState | null>(null);
  const now = live.value;
  const shown = frozen ?? now;
  const filters = filtersIn(route.value.query);
  const calls = useMemo(() => filterCalls(shown.calls, filters), [shown.calls, JSON.stringify(filters)]);
  const toggle = () => setFrozen(frozen === null ? live.peek() : null);
  useToggleKey(toggle);
  const missed = frozen === null ? 0 : now.events - frozen.events;
  return (
    <div class="live">
      <PageHead title="Live" says="Every decision as it happens. Open a call to see why.">
        <ConnectionBadge state={now.connection} paused={frozen !== null} />
        <button type="button" class="button" aria-pressed={frozen !== null} onClick={toggle}>
          <Icon name={frozen === null ? 'pause' : 'play'} />
          {frozen === null ? 'Pause' : `Resume${missed > 0 ? ` (${missed} new)` : ''}`}
        </button>
      </PageHead>
      <Pace pace={now.pace} />
      <LiveFilters filters={filters} seen={now.seen} found={calls.length} />
      {calls.length === 0 ? (
        <NoCalls filtered={hasFilters(filters)} />
      ) : (
        <VirtualList
          rows={calls}
          keyOf={(call) => call.id}
          rowHeight={rowHeight}
          label="Calls, the newest first"
          head={<LiveHead />}
        >
          {(call) => <LiveRow call={call} />}
        </VirtualList>
      )}
    </div>
  );
}

const keys = [
  ['space', 'pause, and go on'],
  ['/', 'search'],
] as const;

function useToggleKey(toggle: () => void): void {
  const last = useRef(toggle);
  last.current = toggle;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') document.getElementById('live-search')?.focus();
      else if (event.key === ' ' && event.target === document.body) last.current();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, []);
}

function ConnectionBadge({ state, paused }: { readonly state: LiveState['connection']; readonly paused: boolean }) {
  if (paused) return <Badge tone="held">Paused</Badge>;
  if (state === 'open') return <Badge tone="good">Live</Badge>;
  return <Badge tone={state === 'broken' ? 'bad' : 'busy'}>{state === 'broken' ? 'Reconnecting' : 'Connecting'}</Badge>;
}

function NoCalls({ filtered }: { readonly filtered: boolean }) {
  if (filtered)
    return (
      <Empty icon="live" title="No call fits the filters">
        <button type="button" class="button" onClick={() => changeQuery({ ...noFilters })}>
          Clear the filters
        </button>
      </Empty>
    );
  return (
    <Empty icon="live" title="No calls yet">
      <p>As soon as an agent calls a tool through this gateway, its calls are listed here.</p>
      <p>
        Give an agent a key with <code>recourse agents add</code> and the address ending in <code>/mcp</code>, or try{' '}
        <code>recourse call</code>. <code>recourse demo</code> shows a gateway that is busy.
      </p>
    </Empty>
  );
}
