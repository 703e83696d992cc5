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
const spare = 8;
/** The view is moved by so many rows at a time. */
const step = 4;

export function VirtualList<Row>({ rows, keyOf, rowHeight, label, head, children }: VirtualListProps<Row>) {
  const { place, view } = useView(rows, keyOf, rowHeight);
  const from = Math.min(view.from, Math.max(0, rows.length - 1));
  const to = Math.min(rows.length, view.from + view.count);
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

/** Which rows are in view. */
function useView<Row>(rows: readonly Row[], keyOf: (row: Row) => string, rowHeight: number) {
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ from: 0, count: 40 });
  const top = useRef<Row | null>(null);
  const given = useRef(rows);
  given.current = rows;
  const look = () => {
    const box = place.current;
    if (box === null) return;
    const at = Math.floor(box.scrollTop / rowHeight);
    top.current = given.current[at] ?? null;
    const from = Math.max(0, at - (at % step) - spare);
    const count = Math.ceil(box.clientHeight / rowHeight) + spare * 2 + step;
    setView((before) => (before.from === from && before.count === count ? before : { from, count }));
  };
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, []);
  // The row at the top of the view stays there, unless the list is at its beginning.
  useLayoutEffect(() => {
    const box = place.current;
    const anchor = top.current;
    if (box === null) return;
    if (box.scrollTop > rowHeight && anchor !== null) {
      const at = Math.floor(box.scrollTop / rowHeight);
      const name = keyOf(anchor);
      const now = rows.findIndex((row, index) => index >= at && keyOf(row) === name);
      if (now > at) box.scrollTop += (now - at) * rowHeight;
    }
    look();
  }, [rows]);
  return { place, view };
}
