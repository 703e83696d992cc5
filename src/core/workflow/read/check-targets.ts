/**
 * Checks that all targets of an edge can be active together. XState accepts targets that exclude each other and gets
 * stuck. Looks at structure alone.
 */
import { type EdgeDraft, type MachineDraft, placeOf, type StateDraft } from './machine-draft.ts';

/** `about` gets the state of each problem. */
export function checkTargets({ states }: MachineDraft, problems: string[], about: Map<string, StateDraft>): void {
  for (const state of states) {
    const tell = (problem: string) => {
      problems.push(problem);
      about.set(problem, state);
    };
    checkTogether(state.historyTo ?? [], placeOf(state), tell);
    for (const edge of state.edges) {
      checkTogether(edge.to ?? [], nameOf(edge), tell);
      for (const to of edge.to ?? []) checkMemory(edge, to, tell);
    }
  }
}

function checkTogether(targets: readonly StateDraft[], place: string, tell: (problem: string) => void): void {
  for (const [index, one] of targets.entries()) {
    const other = targets.slice(index + 1).find((each) => each !== one && !goTogether(entered(one), entered(each)));
    if (other === undefined) continue;
    return tell(
      `${place}: its targets '${one.id}' and '${other.id}' cannot be active together; name one, or one of each region`,
    );
  }
}

/**
 * Leaving the parent is what fills its memory, in the middle of the step: XState would then enter what it had not
 * planned to.
 */
function checkMemory(
  edge: EdgeDraft,
  { id, type, parent, historyTo }: StateDraft,
  tell: (problem: string) => void,
): void {
  if (type !== 'history' || parent === null || !isInside(edge.from, parent)) return;
  const first = historyTo ?? [parent.initial?.to ?? parent];
  if (first.every((state) => isInside(state, parent))) return;
  tell(
    `${nameOf(edge)}: it leads from inside ${placeOf(parent)} to '${id}', which at first leads out of there; give '${id}' a target inside`,
  );
}

/** Whoever goes to a history state enters its parent. */
function entered(state: StateDraft): StateDraft {
  return state.type === 'history' && state.parent !== null ? state.parent : state;
}

function goTogether(one: StateDraft, other: StateDraft): boolean {
  if (one === other || isInside(one, other) || isInside(other, one)) return false;
  let common = one.parent;
  while (common !== null && !isInside(other, common)) common = common.parent;
  return common?.type === 'parallel';
}

function isInside(state: StateDraft, around: StateDraft): boolean {
  for (let up = state.parent; up !== null; up = up.parent) if (up === around) return true;
  return false;
}

function nameOf({ from, kind, event, delay }: EdgeDraft): string {
  const edge = `edge '${event}'`;
  const names = { action: edge, outcome: edge, always: 'always', after: `after ${delay}`, done: 'onDone' };
  return `${names[kind]} of ${placeOf(from)}`;
}
