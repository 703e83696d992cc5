/** A limit as people write it: the documents must say the defaults in these words. */
const units: readonly (readonly [amount: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
  [1, 'ms'],
];

export function showLimit(name: string, value: number | readonly number[]): string {
  if (typeof value !== 'number') return value.map((each) => showLimit(name, each)).join(', ');
  if (name.endsWith('Ms')) return showTime(value);
  return name.endsWith('Bytes') ? `${value / (1 << 20)} MiB` : value.toLocaleString('en-US');
}

function showTime(milliseconds: number): string {
  const [amount, unit] = units.find(([each]) => milliseconds % each === 0) ?? [1, 'ms'];
  return `${milliseconds / amount} ${unit}`;
}
