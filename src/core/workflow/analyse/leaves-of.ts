/** How is a configuration written for people? By its innermost active states. */
import { stateAt, type Chart } from './chart.ts';
import { isLeaf, type Configuration } from './microstep.ts';

export function leavesOf(chart: Chart, configuration: Configuration): readonly string[] {
  const leaves = configuration.filter((state) => isLeaf(chart, state) && state > 0);
  return leaves.map((state) => stateAt(chart, state).id);
}
