/**
 * Three small workflows as graphs, for tests of drawings and checks: a coffee order, an incident, a form with a memory.
 */
import type { GraphEdge, GraphState, WorkflowGraph } from '../../src/core/workflow/graph.ts';

export function state(id: string, type: GraphState['type'] = 'atomic', more: Partial<GraphState> = {}): GraphState {
  const parts = id.split('.');
  const parent = parts.length === 1 ? null : parts.slice(0, -1).join('.');
  return { id, name: parts.at(-1) ?? id, parent, type, initial: null, description: null, ...more };
}

const bare = { action: null, delay: null } as const;

/** A guard asks what its text says. */
function asking(guard: string | null): Pick<GraphEdge, 'guard' | 'asks'> {
  return guard === null ? { guard } : { guard, asks: guard };
}

export function on(
  from: string,
  action: string,
  to: string | readonly string[] | null,
  guard: string | null = null,
): GraphEdge {
  return { ...bare, from, to: typeof to === 'string' ? [to] : to, kind: 'action', action, ...asking(guard) };
}

export function after(from: string, delay: number | string, to: string | null, guard: string | null = null): GraphEdge {
  return { ...bare, from, to: to === null ? null : [to], kind: 'after', delay, ...asking(guard) };
}

export function always(from: string, to: string | null, guard: string | null = null): GraphEdge {
  return { ...bare, from, to: to === null ? null : [to], kind: 'always', ...asking(guard) };
}

export function done(from: string, to: string | null, guard: string | null = null): GraphEdge {
  return { ...bare, from, to: to === null ? null : [to], kind: 'done', ...asking(guard) };
}

export function graphOf(
  name: string,
  initial: string | null,
  states: readonly GraphState[],
  edges: readonly GraphEdge[],
): WorkflowGraph {
  return { name, type: initial === null ? 'parallel' : 'compound', initial, states, edges };
}

export const coffee: WorkflowGraph = graphOf(
  'coffee',
  'idle',
  [
    state('idle'),
    state('ordering'),
    state('paid', 'compound', { initial: 'grinding', description: 'The barista is at work.' }),
    state('paid.grinding'),
    state('paid.steaming'),
    state('paid.ready', 'final'),
    state('served', 'final'),
    state('cancelled', 'final'),
  ],
  [
    on('idle', 'take_order', 'ordering'),
    on('ordering', 'add_modifier', null),
    on('ordering', 'pay', 'paid', 'has_items'),
    on('ordering', 'cancel', 'cancelled'),
    after('ordering', 600_000, 'cancelled'),
    on('paid.grinding', 'steam', 'paid.steaming', 'wants_milk'),
    on('paid.grinding', 'skip_milk', 'paid.ready'),
    on('paid.steaming', 'pour', 'paid.ready'),
    done('paid', 'served'),
  ],
);

export const incident: WorkflowGraph = graphOf(
  'incident',
  'open',
  [
    state('open', 'parallel'),
    state('open.technical', 'compound', { initial: 'triage' }),
    state('open.technical.triage'),
    state('open.technical.mitigating'),
    state('open.technical.fixed', 'final'),
    state('open.communication', 'compound', { initial: 'silent' }),
    state('open.communication.silent'),
    state('open.communication.informed'),
    state('open.communication.closed', 'final'),
    state('escalated'),
    state('resolved', 'final'),
  ],
  [
    on('open.technical.triage', 'mitigate', 'open.technical.mitigating'),
    on('open.technical.mitigating', 'verify', 'open.technical.fixed', 'context.errors == 0'),
    on('open.technical.mitigating', 'verify', 'open.technical.triage'),
    on('open.communication.silent', 'inform', 'open.communication.informed'),
    after('open.communication.silent', 1_800_000, 'escalated'),
    on('open.communication.informed', 'update', 'open.communication.informed'),
    on('open.communication.informed', 'close', 'open.communication.closed'),
    on('open', 'escalate', 'escalated'),
    done('open', 'resolved'),
    on('escalated', 'hand_back', ['open.technical.mitigating', 'open.communication.informed']),
  ],
);

export const form: WorkflowGraph = graphOf(
  'form',
  'filling',
  [
    state('filling', 'compound', { initial: 'name' }),
    state('filling.name'),
    state('filling.address'),
    state('filling.review'),
    state('filling.last', 'history', { history: 'shallow' }),
    state('help'),
    state('sent', 'final'),
  ],
  [
    on('filling.name', 'next', 'filling.address'),
    on('filling.address', 'next', 'filling.review', 'address_valid'),
    on('filling.address', 'back', 'filling.name'),
    on('filling.review', 'back', 'filling.address'),
    on('filling.review', 'submit', 'sent'),
    on('filling', 'ask_help', 'help'),
    on('help', 'resume', 'filling.last'),
    after('help', 'patience', 'filling.last'),
  ],
);
