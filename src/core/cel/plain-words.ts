/** How does the engine's complaint read to a person? In small letters, and with the names under which things were written. */
import { replacements, timestampType } from './cel-functions.ts';

const ours: readonly (readonly [engine: string, written: string])[] = [
  ...Object.entries(replacements).map(([written, engine]) => [engine, written] as const),
  [timestampType, 'timestamp'],
  ['google.protobuf.Duration', 'duration'],
];

export function plainWords(summary: string): string {
  let text = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
  for (const [engine, written] of ours) text = text.replaceAll(engine, written);
  return text;
}
