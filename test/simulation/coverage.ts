/** How often each fault met a call in each state: what `no failures` is worth. */

const callColumns = [
  '(idle)',
  '(none)',
  'AWAITING_APPROVAL',
  'DISPATCHED',
  'RETRY_WAIT',
  'IN_DOUBT',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'DENIED',
  'REJECTED',
];
/** Of what met approvals instead of calls. */
export const approvalColumns = ['(idle)', 'pending', 'granted', 'used', 'denied', 'expired', 'revoked', 'void'];
const short: Readonly<Record<string, string>> = {
  AWAITING_APPROVAL: 'AWAITING',
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

export function createCoverage(columns: readonly string[] = callColumns): Coverage {
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
        name.padEnd(30) + cells.map((cell) => cell.padStart(9)).join('');
      const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
      const body = rows.map(([fault, row]) =>
        line(
          fault,
          columns.map((state) => String(row.get(state) ?? '·')),
        ),
      );
      return [
        line(
          columns === callColumns ? 'fault × state' : 'fault × approval',
          columns.map((state) => short[state] ?? state),
        ),
        ...body,
      ].join('\n');
    },
  };
}
