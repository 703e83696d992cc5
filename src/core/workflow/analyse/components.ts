/** Which places lead to each other in circles? Tarjan's strongly connected components, without recursion. */

export function components(
  count: number,
  nextOf: (index: number) => readonly number[],
): readonly (readonly number[])[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const found: (readonly number[])[] = [];
  for (let root = 0; root < count; root++) {
    if (order.has(root)) continue;
    const trail = [{ index: root, next: nextOf(root), at: 0 }];
    while (trail.length > 0) {
      const here = trail.at(-1);
      if (here === undefined) break;
      const { index } = here;
      if (!order.has(index)) {
        order.set(index, order.size);
        low.set(index, order.size - 1);
        open.push(index);
        isOpen.add(index);
      }
      const next = here.next[here.at++];
      if (next !== undefined) {
        if (!order.has(next)) trail.push({ index: next, next: nextOf(next), at: 0 });
        else if (isOpen.has(next)) low.set(index, Math.min(low.get(index) ?? 0, order.get(next) ?? 0));
        continue;
      }
      trail.pop();
      const above = trail.at(-1);
      if (above !== undefined) low.set(above.index, Math.min(low.get(above.index) ?? 0, low.get(index) ?? 0));
      if (low.get(index) === order.get(index)) {
        const component = open.splice(open.indexOf(index));
        for (const each of component) isOpen.delete(each);
        found.push(component);
      }
    }
  }
  return found;
}
