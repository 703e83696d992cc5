/**
 * Decides whether an action may be taken in a state, by XState's selection: innermost state first, regions
 * independent, first edge whose guard holds. An empty edge forbids the event for parent states too.
 */
import type { BlockedEdge } from '../../call/reply.ts';
import { AuthorFault } from '../read/author-code.ts';
import { judgeGuard, type Standing } from './judge-guard.ts';
import type { EdgeDraft, StateDraft } from '../read/machine-draft.ts';
import type { Reach } from '../workflow.ts';

/** What XState could do, as a set: with inputs that are not known yet there may be more than one answer. */
const taken = 1;
const forbidden = 2;
const none = 4;
const broken = 8;

interface Walk extends Standing {
  readonly action: string;
  readonly blocked: BlockedEdge[];
  fault: AuthorFault | null;
}

export function judgeReach(root: StateDraft, action: string, standing: Omit<Standing, 'asksInputs'>): Reach {
  const walk: Walk = { ...standing, action, blocked: [], fault: null, asksInputs: false };
  const outcomes = walkState(root, walk);
  if ((outcomes & taken) !== 0) return walk.asksInputs ? { kind: 'depends' } : { kind: 'yes' };
  if ((outcomes & broken) !== 0 && walk.fault !== null) {
    const { what, message } = walk.fault;
    return { kind: 'broken', guard: what, problem: message, blockedBy: walk.blocked };
  }
  return { kind: 'no', blockedBy: walk.blocked };
}

function walkState(state: StateDraft, walk: Walk): number {
  const inner = walkInside(state, walk);
  if ((inner & none) === 0) return inner;
  const edges = state.byEvent.get(walk.action);
  return edges === undefined ? inner : (inner & ~none) | walkEdges(edges, walk);
}

function walkInside(state: StateDraft, walk: Walk): number {
  let outcomes = none;
  for (const child of state.children) {
    if (!walk.active.has(child)) continue;
    const found = walkState(child, walk);
    if (state.type !== 'parallel') return found;
    outcomes = together(outcomes, found);
  }
  return outcomes;
}

/** Two regions at once: one broken guard breaks the step, and one edge that is taken is enough. */
function together(a: number, b: number): number {
  let outcomes = 0;
  for (const one of [taken, forbidden, none, broken]) {
    if ((a & one) === 0) continue;
    for (const other of [taken, forbidden, none, broken]) {
      if ((b & other) !== 0)
        outcomes |= [broken, taken, forbidden, none].find((bit) => one === bit || other === bit) ?? 0;
    }
  }
  return outcomes;
}

function walkEdges(edges: readonly EdgeDraft[], walk: Walk): number {
  let outcomes = 0;
  for (const edge of edges) {
    const verdict = edge.guard === null ? 'yes' : judgeGuard(edge.guard, walk);
    if (verdict instanceof AuthorFault) {
      walk.fault ??= verdict;
      walk.blocked.push(blockedEdge(edge));
      return outcomes | broken;
    }
    if (verdict === 'no') {
      walk.blocked.push(blockedEdge(edge));
      continue;
    }
    outcomes |= edge.isForbidden ? forbidden : taken;
    if (verdict === 'yes') return outcomes;
  }
  return outcomes | none;
}

function blockedEdge({ from, to, guard }: EdgeDraft): BlockedEdge {
  const target = to === null ? null : to.map((state) => state.id).join(', ');
  return { from: from.id, to: target, guard: guard?.name ?? '' };
}
