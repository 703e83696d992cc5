/**
 * Which box stands in which row? Arrows point downwards, except those that close a circle: a walk from the first state
 * finds them, and they are drawn upwards.
 */
export function rankChildren(
  children: readonly number[],
  initial: number,
  between: readonly (readonly [number, number])[],
): ReadonlyMap<number, number> {
  const next = new Map(children.map((child): [number, number[]] => [child, []]));
  for (const [from, to] of between) next.get(from)?.push(to);

  // A walk in depth; what leads to a state that is still being walked closes a circle.
  const down = new Map(children.map((child): [number, number[]] => [child, []]));
  const finished: number[] = [];
  const open = new Set<number>();
  const met = new Set<number>();
  for (const root of [initial, ...children]) {
    if (met.has(root) || !next.has(root)) continue;
    const trail = [{ state: root, at: 0 }];
    met.add(root);
    open.add(root);
    for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
      const to = next.get(here.state)?.[here.at++];
      if (to === undefined) {
        trail.pop();
        open.delete(here.state);
        finished.push(here.state);
      } else {
        const [upper, lower] = open.has(to) ? [to, here.state] : [here.state, to];
        down.get(upper)?.push(lower);
        if (!met.has(to)) {
          met.add(to);
          open.add(to);
          trail.push({ state: to, at: 0 });
        }
      }
    }
  }
  const ranks = new Map(children.map((child): [number, number] => [child, 0]));
  for (const state of finished.toReversed()) {
    for (const lower of down.get(state) ?? []) {
      ranks.set(lower, Math.max(ranks.get(lower) ?? 0, (ranks.get(state) ?? 0) + 1));
    }
  }
  return ranks;
}
