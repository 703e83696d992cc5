/** One session: its machine with the path, its history to scrub through, its state then, and what can be done with it. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { get } from '../../state/api.ts';
import { usePageKeys } from '../../state/page-keys.ts';
import { useResource } from '../../state/resource.ts';
import { linkTo } from '../../state/route.ts';
import { Machine } from './machine.tsx';
import { RollbackNote } from './rollback-note.tsx';
import { RefusedList } from './refused-list.tsx';
import { Scrubber } from './scrubber.tsx';
import { listenToScrubKeys, type Move, scrubKeys } from './scrub-keys.ts';
import { SessionActions } from './session-actions.tsx';
import { StateThen } from './state-then.tsx';
import { SessionHead } from './session-head.tsx';

const everyMs = 5_000;

export function SessionView({ id }: { readonly id: string }) {
  const at = `/v1/sessions/${encodeURIComponent(id)}/graph`;
  const graph = useResource((signal) => get<SessionGraph>(at, signal), [id], everyMs);
  // Null follows the newest entry.
  const [chosen, setChosen] = useState<number | null>(null);
  usePageKeys(scrubKeys);
  const last = (graph.state.value.value?.path.length ?? 1) - 1;
  const step = (move: Move) =>
    setChosen((now) => {
      const next = move(now ?? last, last);
      return next >= last ? null : Math.max(0, next);
    });
  const [acts, setActs] = useState(0);
  const changed = () => {
    setActs((count) => count + 1);
    setChosen(null);
    void graph.load();
  };
  useEffect(() => listenToScrubKeys(step), [last]);
  return (
    <>
      <PageHead
        title="Session"
        says={
          <>
            <a href={linkTo('sessions')}>Sessions</a> / <Foreign text={id} code max={60} />
          </>
        }
      />
      <Load of={graph}>
        {(now) => {
          const entry = now.path[Math.min(chosen ?? last, last)] ?? null;
          return (
            <div class="stack">
              <SessionHead graph={now} />
              <SessionActions graph={now} at={entry?.seq ?? now.seq} changed={changed} />
              <div class="session-columns">
                <section class="card" aria-label="Machine">
                  <Scrubber
                    path={now.path}
                    chosen={chosen ?? last}
                    choose={(entry) => step(() => entry)}
                    complete={now.complete}
                  />
                  <Machine graph={now} entry={entry} />
                </section>
                <div class="stack">
                  <StateThen session={now.session} seq={entry?.seq ?? now.seq} entry={entry} />
                  <RollbackNote session={now.session} asked={acts} />
                  <RefusedList refused={now.refused} />
                </div>
              </div>
            </div>
          );
        }}
      </Load>
    </>
  );
}
