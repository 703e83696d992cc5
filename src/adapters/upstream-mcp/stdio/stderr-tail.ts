/** Keeps the last lines of a child's standard error, each cut to a limit. */
import { cut } from '../../../core/values/canonical.ts';

export interface StderrTail {
  push(text: string): void;
  lines(): readonly string[];
}

export interface TailLimits {
  readonly maxStderrLines: number;
  readonly maxStderrLineChars: number;
}

/** A line without an end is told as far as it came once it is longer than a line may be. */
export function createStderrTail(limits: TailLimits, onLine: (line: string) => void): StderrTail {
  const kept: string[] = [];
  let open = '';
  let skipping = false;

  function keep(line: string): void {
    const text = cut(line.replace(/\r$/, ''), limits.maxStderrLineChars);
    if (kept.push(text) > limits.maxStderrLines) kept.shift();
    onLine(text);
  }

  return {
    push(text) {
      const lines = text.split('\n');
      for (const [index, part] of lines.entries()) {
        const ends = index < lines.length - 1;
        if (!skipping) open += part.slice(0, limits.maxStderrLineChars + 1 - open.length);
        const isLong = open.length > limits.maxStderrLineChars;
        if (!skipping && (ends ? open !== '' : isLong)) keep(open);
        skipping = !ends && (skipping || isLong);
        if (ends || skipping) open = '';
      }
    },
    lines: () => [...kept],
  };
}
