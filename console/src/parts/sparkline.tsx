/** A small line of numbers over time, with its name and what it is now. */
interface SparklineProps {
  readonly name: string;
  readonly values: readonly number[];
  /** The value in words; it is what is read aloud. */
  readonly now: string;
}

const width = 160;
const height = 30;

export function Sparkline({ name, values, now }: SparklineProps) {
  const top = Math.max(1, ...values);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(height - 2 - (value / top) * (height - 5)).toFixed(1)}`,
  );
  return (
    <figure class="spark">
      <figcaption>
        <span class="quiet">{name}</span> <strong class="number">{now}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
        <polyline points={points.join(' ')} />
      </svg>
    </figure>
  );
}
