/** One arrow of the drawing: all edges between two states, with how often they were taken and refused. */
import type { DrawnArrow } from '../../../../src/core/workflow/draw/to-drawing.ts';
import { spelled } from './machine-state.tsx';

interface MachineArrowProps {
  readonly arrow: DrawnArrow;
  readonly taken: number;
  readonly refused: number;
}

const lineHeight = 15;

export function MachineArrow({ arrow, taken, refused }: MachineArrowProps) {
  const name = refused > 0 && taken === 0 ? 'was-refused' : taken > 0 ? 'was-taken' : '';
  const [first] = arrow.labels;
  const told = [
    spelled(arrow.title),
    ...(taken > 0 ? [`taken ${taken} times`] : []),
    ...(refused > 0 ? [`refused ${refused} times`] : []),
  ];
  return (
    <g class={name}>
      <title>{told.join('\n')}</title>
      {arrow.paths.map((path) => (
        <path key={path} class="machine-line" d={path} />
      ))}
      {arrow.heads.map((path) => (
        <path key={path} class="machine-head" d={path} />
      ))}
      {arrow.labels.map(({ x, y, lines }) =>
        lines.map((line, index) => (
          <text key={`${x} ${y} ${index}`} class="machine-label" x={x} y={y + index * lineHeight}>
            {spelled(line)}
          </text>
        )),
      )}
      {refused > 0 && first !== undefined && (
        <g class="machine-refused">
          <rect x={first.x - 2} y={first.y + (first.lines.length - 1) * lineHeight + 4} width={28} height={16} rx={8} />
          <text
            x={first.x + 12}
            y={first.y + (first.lines.length - 1) * lineHeight + 16}
            text-anchor="middle"
          >{`×${refused}`}</text>
        </g>
      )}
    </g>
  );
}
