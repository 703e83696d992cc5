/**
 * The machine of a workflow as a drawing: where the session stood at the chosen entry, the states it has visited, the
 * edges it took, and how often each was refused. The places come from the gateway; names are text.
 */
import type { DrawnArrow, DrawnState } from '../../../../src/core/workflow/draw/to-drawing.ts';
import type { PathEntry, SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { MachineArrow } from './machine-arrow.tsx';
import { MachineState } from './machine-state.tsx';

interface MachineProps {
  readonly graph: SessionGraph;
  /** Null for a session without history. */
  readonly entry: PathEntry | null;
}

const margin = 10;

export function Machine({ graph, entry }: MachineProps) {
  const { drawing, visited, taken, refused } = graph;
  const active = new Set(entry?.active ?? graph.active);
  const visits = new Map(visited.map(({ state, times }) => [state, times]));
  const sum = (
    list: readonly { readonly from: string; readonly to: string | null; readonly times: number }[],
    arrow: DrawnArrow,
  ) => list.filter(({ from, to }) => from === arrow.from && to === arrow.to).reduce((all, { times }) => all + times, 0);
  const at = (
    list: readonly { readonly from: string; readonly to: string | null; readonly times: number }[],
    state: DrawnState,
  ) => list.filter(({ from, to }) => to === null && from === state.id).reduce((all, { times }) => all + times, 0);
  const size = [-margin, -margin, drawing.width + 2 * margin, drawing.height + 2 * margin];
  const stands = [...active].join(', ');
  return (
    <figure class="machine">
      <div class="machine-scroll" tabIndex={0} role="region" aria-label="Drawing of the machine">
        <svg
          viewBox={size.join(' ')}
          width={drawing.width + 2 * margin}
          height={drawing.height + 2 * margin}
          role="img"
          aria-label={`The machine; active: ${stands === '' ? 'unknown' : stands}`}
        >
          {drawing.states.map((state) => (
            <MachineState
              key={state.id}
              state={state}
              isActive={active.has(state.id)}
              visits={visits.get(state.id) ?? 0}
              refused={at(refused, state)}
            />
          ))}
          {drawing.starts.paths.map((path) => (
            <path key={path} class="machine-line" d={path} />
          ))}
          {drawing.starts.heads.map((path) => (
            <path key={path} class="machine-head" d={path} />
          ))}
          {drawing.starts.dots.map(({ x, y }) => (
            <circle key={`${x} ${y}`} class="machine-head" cx={x} cy={y} r={5.5} />
          ))}
          {drawing.arrows.map((arrow) => (
            <MachineArrow
              key={`${arrow.from} ${arrow.to}`}
              arrow={arrow}
              taken={sum(taken, arrow)}
              refused={sum(refused, arrow)}
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
