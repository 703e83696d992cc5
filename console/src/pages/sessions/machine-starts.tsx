/** Where composites of the drawing begin: a dot with an arrow to the first state. */
import type { WorkflowDrawing } from '../../../../src/core/workflow/draw/to-drawing.ts';

export function MachineStarts({ starts: { dots, paths, heads } }: { readonly starts: WorkflowDrawing['starts'] }) {
  return (
    <>
      {paths.map((path) => (
        <path key={path} class="machine-line" d={path} />
      ))}
      {heads.map((path) => (
        <path key={path} class="machine-head" d={path} />
      ))}
      {dots.map(({ x, y }) => (
        <circle key={`${x} ${y}`} class="machine-head" cx={x} cy={y} r={5.5} />
      ))}
    </>
  );
}
