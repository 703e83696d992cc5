/**
 * Where do things in a row stand, if each wants to be somewhere and none may overlap? The positions that are nearest to the
 * wishes, by weight, found by pooling neighbours that push each other.
 */
export interface Wish {
  readonly at: number;
  readonly weight: number;
  /** How far it must stay from the one before it. */
  readonly gap: number;
}

export function settleRow(wishes: readonly Wish[]): readonly number[] {
  // Shifted by the gaps before it, every wish becomes one for a row that must only not go backwards.
  const shifts: number[] = [];
  let shift = 0;
  for (const [index, { gap }] of wishes.entries()) {
    shift += index === 0 ? 0 : gap;
    shifts.push(shift);
  }
  const pools: { sum: number; weight: number; count: number }[] = [];
  for (const [index, { at, weight }] of wishes.entries()) {
    let pool = { sum: (at - (shifts[index] ?? 0)) * weight, weight, count: 1 };
    for (let before = pools.at(-1); before !== undefined; before = pools.at(-1)) {
      if (before.sum / before.weight <= pool.sum / pool.weight) break;
      pools.pop();
      pool = { sum: before.sum + pool.sum, weight: before.weight + pool.weight, count: before.count + pool.count };
    }
    pools.push(pool);
  }
  return pools
    .flatMap(({ sum, weight, count }) => Array<number>(count).fill(sum / weight))
    .map((at, index) => at + (shifts[index] ?? 0));
}
