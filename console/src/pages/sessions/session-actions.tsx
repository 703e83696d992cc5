/** What an admin can do with a session; each asks again first. Not there for others. */
import { useState } from 'preact/hooks';
import type { SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { mayDo } from '../../state/session.ts';
import { linkTo } from '../../state/route.ts';
import { actsOf, type SessionAct } from './session-acts.ts';
import { SessionActDialog } from './session-act-dialog.tsx';

interface SessionActionsProps {
  readonly graph: SessionGraph;
  /** The sequence at the chosen entry. */
  readonly at: number;
  readonly changed: () => void;
}

export function SessionActions({ graph, at, changed }: SessionActionsProps) {
  const [asks, setAsks] = useState<SessionAct | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  const acts = actsOf(graph, at).filter(({ needs }) => mayDo(needs));
  if (acts.length === 0) return null;
  return (
    <div class="row">
      {acts.map((act) => (
        <button
          key={act.name}
          type="button"
          class={`button${act.danger ? ' button-danger' : ''}`}
          onClick={() => setAsks(act)}
        >
          {act.title}
        </button>
      ))}
      {opened !== null && (
        <span role="status">
          The fork is{' '}
          <a href={linkTo('sessions', opened)}>
            <Foreign text={opened} code max={40} />
          </a>
        </span>
      )}
      {asks !== null && (
        <SessionActDialog
          act={asks}
          close={() => setAsks(null)}
          done={(session) => {
            setAsks(null);
            if (session !== null && session !== graph.session) setOpened(session);
            changed();
          }}
        />
      )}
    </div>
  );
}
