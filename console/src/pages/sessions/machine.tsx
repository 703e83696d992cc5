/**
 * The machine of a workflow as a drawing: where the session stood at the chosen entry, the states it has visited, the
 * edges it took, and how often each was refused. The places come from the gateway; names are text.
 */
import type { PathEntry, SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { MachineArrow } from './machine-arrow.tsx';
import { MachineStarts } from './machine-starts.tsx';
import { MachineState } from './machine-state.tsx';

interface MachineProps {
  readonly graph: SessionGraph;
  /** Null for a session without history. */
  readonly entry: PathEntry | null;
}

interface CountedEdge {
  readonly from: string;
  readonly to: string | null;
  readonly times: number;
}

const margin = 10;

/** `to` null: what is told at the state itself. */
const timesOf = (edges: readonly CountedEdge[], from: string, to: string | null): number =>
  edges.filter((edge) => edge.from === from && edge.to === to).reduce((all, { times }) => all + times, 0);

export function Machine({ graph, entry }: MachineProps) {
  const { drawing, visited, taken, refused } = graph;
  const active = new Set(entry?.active ?? graph.active);
  const visits = new Map(visited.map(({ state, times }) => [state, times]));
  const [width, height] = [drawing.width + 2 * margin, drawing.height + 2 * margin];
  const stands = [...active].join(', ');
  return (
    <figure class="machine">
      <div class="machine-scroll" tabIndex={0} role="region" aria-label="Drawing of the machine">
        <svg
          viewBox={[-margin, -margin, width, height].join(' ')}
          width={width}
          height={height}
          role="img"
          aria-label={`The machine; active: ${stands === '' ? 'unknown' : stands}`}
        >
          {drawing.states.map((state) => (
            <MachineState
              key={state.id}
              state={state}
              isActive={active.has(state.id)}
              visits={visits.get(state.id) ?? 0}
              refused={timesOf(refused, state.id, null)}
            />
          ))}
          <MachineStarts starts={drawing.starts} />
          {drawing.arrows.map((arrow) => (
            <MachineArrow
              key={`${arrow.from} ${arrow.to}`}
              arrow={arrow}
              taken={timesOf(taken, arrow.from, arrow.to)}
              refused={timesOf(refused, arrow.from, arrow.to)}
            />
          ))}
        </svg>
      </div>
      <figcaption class="machine-legend">
        <span class="key-active">stands here</span>
        <span class="key-visited">was here</span>
        <span class="key-taken">edge taken</span>
        <span class="key-refused">refused, and how often</span>
      </figcaption>
    </figure>
  );
}
