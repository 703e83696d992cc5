/** What do the documents show? Their blocks of code, with where each stands, and the rows of their tables. */
export interface Block {
  /** The line of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What the document says that it prints: the block ```text output that follows. Null if it says nothing. */
  readonly prints: string | null;
}

const fence = /^```(\S*)(.*)\n([\s\S]*?)^```$/gm;

export function blocksIn(document: string): readonly Block[] {
  const blocks: Block[] = [];
  for (const { 1: language = '', 2: info = '', 3: text = '', index } of document.matchAll(fence)) {
    const line = document.slice(0, index).split('\n').length + 1;
    const before = blocks.at(-1);
    if (language === 'text' && info.trim() === 'output' && before !== undefined) {
      blocks[blocks.length - 1] = { ...before, prints: text };
      continue;
    }
    blocks.push({ line, language, text, prints: null });
  }
  return blocks;
}

/** Cells of the table whose first heading is this one; without its headings. */
export function tableIn(document: string, heading: string): readonly (readonly string[])[] {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => cellsOf(line)[0] === heading);
  if (start < 0) return [];
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end < 0 ? undefined : end).map(cellsOf);
}

function cellsOf(line: string): readonly string[] {
  if (!line.startsWith('|')) return [];
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
}

/** The words of a cell that stand in code. */
export function codeIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}
