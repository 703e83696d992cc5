/**
 * A long list of rows of one height, of which only those in view are on the page. What is in view stays where it is when
 * rows come in above it.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly rowHeight: number;
  /** What is heard instead of seeing the whole. */
  readonly label: string;
  readonly head: ComponentChildren;
  readonly children: (row: Row) => ComponentChildren;
}

/** Rows beyond the edges, so that a fast scroll shows no gap. */
const spare = 12;

export function VirtualList<Row>({ rows, keyOf, rowHeight, label, head, children }: VirtualListProps<Row>) {
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const topRow = useRef<{ readonly key: string; readonly at: number } | null>(null);
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const look = () => setView({ top: box.scrollTop, height: box.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, []);
  // The row at the top of the view stays there, unless the list is at its beginning.
  useLayoutEffect(() => {
    const [box, before] = [place.current, topRow.current];
    if (box === null || before === null || box.scrollTop <= rowHeight) return;
    const now = rows.findIndex((row) => keyOf(row) === before.key);
    if (now > before.at) box.scrollTop += (now - before.at) * rowHeight;
  }, [rows]);
  useLayoutEffect(() => {
    const at = Math.floor((place.current?.scrollTop ?? 0) / rowHeight);
    const row = rows[at];
    topRow.current = row === undefined ? null : { key: keyOf(row), at };
  }, [rows, view.top]);
  const from = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const to = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  return (
    <div class="virtual" role="table" aria-label={label} aria-rowcount={rows.length}>
      {head}
      <div class="virtual-view" ref={place} role="rowgroup" tabIndex={0} aria-label={label}>
        <div class="virtual-all" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(from, to).map((row, index) => (
            <div
              key={keyOf(row)}
              class="virtual-row"
              role="row"
              aria-rowindex={from + index + 1}
              style={{ top: `${(from + index) * rowHeight}px`, height: `${rowHeight}px` }}
            >
              {children(row)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
