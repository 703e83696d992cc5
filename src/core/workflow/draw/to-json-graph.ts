/** Writes a workflow's graph as plain JSON, for programs that draw it themselves. Every field is present. */
import type { JsonObject } from '../../values/json.ts';
import type { WorkflowGraph } from '../graph.ts';
import { planDrawing } from './draw-plan.ts';
import { edgeText } from './edge-text.ts';

export function toJsonGraph(graph: WorkflowGraph, active: readonly string[] = []): JsonObject {
  const plan = planDrawing(graph, active);
  const lit = new Set([...plan.active].map((index) => plan.states[index]?.id));
  return {
    name: graph.name,
    type: graph.type,
    initial: graph.initial,
    active: graph.states.filter(({ id }) => lit.has(id)).map(({ id }) => id),
    states: graph.states.map(({ id, name, parent, type, initial, description, history }) => ({
      id,
      name,
      parent,
      type,
      initial,
      description,
      history: type === 'history' ? (history ?? 'shallow') : null,
      active: lit.has(id),
    })),
    edges: graph.edges
      .filter(({ forbids }) => forbids !== true)
      .map((edge) => ({
        from: edge.from,
        to: edge.to,
        kind: edge.kind,
        action: edge.action,
        guard: edge.guard,
        delay: edge.delay,
        label: edgeText(edge),
      })),
  };
}
