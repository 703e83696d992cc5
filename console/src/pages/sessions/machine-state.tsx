/** One state of the drawing. */
import { piecesOf } from '../../../../src/core/values/quote.ts';
import type { DrawnState } from '../../../../src/core/workflow/draw/to-drawing.ts';

interface MachineStateProps {
  readonly state: DrawnState;
  readonly isActive: boolean;
  readonly visits: number;
  /** How often an action was refused here that no edge of it takes. */
  readonly refused: number;
}

/** What cannot be seen is spelled out; the layout has cut what is too long. */
export const spelled = (text: string): string =>
  piecesOf(text)
    .map((piece) => piece.text)
    .join('');

const lineHeight = 15;

const hintOf = ({ title, description }: DrawnState, visits: number): string =>
  [
    spelled(title),
    ...(description === null ? [] : [spelled(description)]),
    ...(visits > 0 ? [`visited ${visits} times`] : []),
  ].join('\n');

export function MachineState({ state, isActive, visits, refused }: MachineStateProps) {
  const { x, y, width, height, title, lines, type, frame, depth } = state;
  const round = type === 'final' || type === 'history' ? Math.min(16, height / 2) : frame ? 10 : 8;
  const name = [
    frame ? `machine-frame${depth % 2 === 1 ? ' odd' : ''}` : 'machine-box',
    isActive ? 'is-active' : visits > 0 && state.id !== '' ? 'is-visited' : '',
  ].join(' ');
  const [left, anchor] = frame ? [x + 12, 'start' as const] : [x + width / 2, 'middle' as const];
  const first = frame ? y + 18 : y + (type === 'history' ? 18 : 21);
  return (
    <g>
      <title>{hintOf(state, visits)}</title>
      <rect class={name} x={x} y={y} width={width} height={height} rx={round} />
      {type === 'final' && (
        <rect class="machine-ring" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={round - 3} />
      )}
      <text class="machine-title" x={left} y={first} text-anchor={anchor}>
        {spelled(title)}
      </text>
      {lines.map((line, index) => (
        <text
          key={index}
          class="machine-label"
          x={left}
          y={first + (frame ? 16 : 17) + index * lineHeight}
          text-anchor={anchor}
        >
          {spelled(line)}
        </text>
      ))}
      {refused > 0 && <Refused x={x + width} y={y} times={refused} />}
    </g>
  );
}

function Refused({ x, y, times }: { readonly x: number; readonly y: number; readonly times: number }) {
  return (
    <g class="machine-refused">
      <title>{`refused here ${times} times`}</title>
      <rect x={x - 14} y={y - 9} width={28} height={18} rx={9} />
      <text x={x} y={y + 4} text-anchor="middle">{`×${times}`}</text>
    </g>
  );
}
