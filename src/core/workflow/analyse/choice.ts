/**
 * Finds which of several edges on one event can be taken. The first whose guard holds wins. Edges behind an unguarded
 * edge, or behind guards of which one always holds, are dead.
 */
import type { GraphEdge } from '../graph.ts';
import { canBeSo } from './guard-formula.ts';

export interface Choice<Edge> {
  /** Those that can be taken, in the order in which they are asked. */
  readonly takes: readonly Edge[];
  /** Those that can never be: proven. */
  readonly dead: readonly Edge[];
  /** Whether all of them can say no at once. */
  readonly mayFall: boolean;
}

/** With more edges on one event, guards are only compared with nothing: each is as free as the others. */
const maxCompared = 12;

/** What a guard asks. One of which only the name is known asks something of its own. */
export function questionOf({ index, drawn }: { readonly index: number; readonly drawn: GraphEdge }): string {
  return drawn.asks ?? `unknown("edge ${index}")`;
}

export function chooseAmong<Edge extends { readonly index: number; readonly drawn: GraphEdge }>(
  edges: readonly Edge[],
): Choice<Edge> {
  const takes: Edge[] = [];
  const dead: Edge[] = [];
  const asked: string[] = [];
  let settled = false;
  for (const edge of edges) {
    const guard = edge.drawn.guard === null ? null : questionOf(edge);
    const compared = edges.length <= maxCompared;
    if (settled || (compared && !canBeSo(guard === null ? [] : [guard], asked))) {
      dead.push(edge);
      continue;
    }
    takes.push(edge);
    if (guard === null) settled = true;
    else asked.push(guard);
  }
  const mayFall = !settled && (edges.length > maxCompared || canBeSo([], asked));
  return { takes, dead, mayFall };
}
