/** Aligns rows and pairs for a terminal. Text from others is escaped first. */
import { cut } from '../../../core/values/canonical.ts';
import { quoteValue } from '../../../core/values/quote.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
}

const widest = 60;

export function writeTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], paint: Paint): string {
  const cells = rows.map((row) => columns.map(({ text }) => clip(harmless(text(row)))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const line = (texts: readonly string[], styleOf: (at: number) => Style | null) =>
    texts
      .map((text, at) => {
        const style = styleOf(at);
        const padding = at === texts.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - text.length);
        return (style === null ? text : paint(style, text)) + padding;
      })
      .join('  ');
  const head = line(
    columns.map(({ title }) => title),
    () => 'dim',
  );
  const body = rows.map((row, index) => line(cells[index] ?? [], (at) => columns[at]?.style?.(row) ?? null));
  return `${[head, ...body].join('\n')}\n`;
}

/** A name with its value on one or several lines. Line ends in texts of others are escaped. */
export type Pair = readonly [name: string, value: string | readonly string[]];

/** Pairs, one below the other. */
export function writePairs(pairs: readonly Pair[], paint: Paint): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs
    .map(([name, value]) => {
      const lines = [value]
        .flat()
        .map(harmless)
        .join(`\n${' '.repeat(width + 4)}`);
      return `  ${paint('dim', name)}${' '.repeat(width - name.length)}  ${lines}\n`;
    })
    .join('');
}

/** Indented JSON, by line. */
export function valueLines(value: unknown, maxChars: number): readonly string[] {
  const text = quoteValue(value ?? null, 2);
  if (text.length <= maxChars) return text.split('\n');
  return [...cut(text, maxChars).split('\n'), `… ${text.length} characters; --json shows all of them`];
}

function clip(text: string): string {
  return text.length <= widest ? text : `${cut(text, widest - 1)}…`;
}
