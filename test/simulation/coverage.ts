/** How often each fault met a call in each state: what `no failures` is worth. */

const columns = [
  '(idle)',
  '(none)',
  'DISPATCHED',
  'RETRY_WAIT',
  'IN_DOUBT',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'DENIED',
];
const short: Readonly<Record<string, string>> = {
  DISPATCHED: 'DISPATCH',
  RETRY_WAIT: 'RETRY_W',
  SUCCEEDED: 'SUCCEED',
  CANCELLED: 'CANCEL',
};

export interface Coverage {
  hit(fault: string, state: string): void;
  add(other: Coverage): void;
  entries(): ReadonlyMap<string, ReadonlyMap<string, number>>;
  table(): string;
}

export function createCoverage(): Coverage {
  const counts = new Map<string, Map<string, number>>();
  const bump = (fault: string, state: string, by: number) => {
    const row = counts.get(fault) ?? new Map<string, number>();
    counts.set(fault, row);
    row.set(state, (row.get(state) ?? 0) + by);
  };
  return {
    hit: (fault, state) => bump(fault, state, 1),
    add(other) {
      for (const [fault, row] of other.entries()) for (const [state, count] of row) bump(fault, state, count);
    },
    entries: () => counts,
    table() {
      const line = (name: string, cells: readonly string[]) =>
        name.padEnd(26) + cells.map((cell) => cell.padStart(9)).join('');
      const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
      const body = rows.map(([fault, row]) =>
        line(
          fault,
          columns.map((state) => String(row.get(state) ?? '·')),
        ),
      );
      return [
        line(
          'fault × state',
          columns.map((state) => short[state] ?? state),
        ),
        ...body,
      ].join('\n');
    },
  };
}
