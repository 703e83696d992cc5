/** Writes an entry of a session's history as a line: time, step, outcome, and how the state changed. */
import { cut } from '../../../core/values/canonical.ts';
import type { HistoryEntry } from '../../../shell/look/inspect-sessions.ts';
import { quoteWord } from '../../../core/values/quote.ts';
import { harmless, type Paint, type Style } from '../terminal.ts';

const longestDetail = 60;
const longestReason = 200;

export function writeEntry(entry: HistoryEntry, paint: Paint): string {
  const { action, outcome, code, elapsed_ms: elapsedMs } = entry;
  const about = action === null ? entry.kind : `${entry.kind} ${action}`;
  const what = entry.kind === 'attempt' ? (action ?? '(unreadable)') : about;
  const end = outcome === null ? '' : `  ${paint(styleOf(outcome), harmless(outcome))}`;
  const facts = [
    code === null ? '' : harmless(code),
    elapsedMs === null ? '' : `${elapsedMs} ms`,
    entry.kind === 'attempt' || entry.seq > 0 ? `seq ${entry.seq}` : '',
    entry.call_id === null ? '' : harmless(entry.call_id),
    digests(entry),
    ...(entry.kind === 'attempt' ? [] : details(entry)),
    entry.reason === null ? '' : harmless(cut(entry.reason, longestReason)),
  ].filter((fact) => fact !== '');
  const place = paint('dim', `#${entry.entry}`.padEnd(5));
  return `${entry.at}  ${place} ${paint('dim', harmless(entry.agent))}  ${paint('bold', harmless(what))}${end}  ${paint('dim', facts.join(' · '))}\n`;
}

function styleOf(outcome: string): Style {
  if (outcome === 'succeeded') return 'green';
  return outcome === 'running' ? 'cyan' : 'yellow';
}

/** Eight digits of a digest are enough to see whether the state changed. */
function digests({ state_before: before, state_after: after }: HistoryEntry): string {
  if (before === null || after === null) return '';
  return before === after ? `state ${short(before)}` : `state ${short(before)} → ${short(after)}`;
}

const short = (digest: string): string => harmless(digest.slice(0, 8));

/** Shown elsewhere, or of no use to a person. */
const elsewhere: ReadonlySet<string> = new Set(['state', 'agent', 'tenant', 'workflow', 'attempt', 'reason']);

function details({ detail }: HistoryEntry): readonly string[] {
  return Object.entries(detail).flatMap(([name, value]) => {
    if (value === null || typeof value === 'object' || elsewhere.has(name)) return [];
    return [harmless(cut(`${name} ${quoteWord(value)}`, longestDetail))];
  });
}
