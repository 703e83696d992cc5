/** A slider over the history of a session; what happened at the chosen entry is told below it. */
import type { PathEntry } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';

interface ScrubberProps {
  readonly path: readonly PathEntry[];
  readonly chosen: number;
  readonly choose: (entry: number) => void;
  readonly complete: boolean;
}

export function Scrubber({ path, chosen, choose, complete }: ScrubberProps) {
  const last = path.length - 1;
  const entry = path[chosen];
  return (
    <div class="scrubber">
      <div class="row">
        <button type="button" class="button" disabled={chosen <= 0} onClick={() => choose(chosen - 1)}>
          Back
        </button>
        <input
          type="range"
          min={0}
          max={Math.max(0, last)}
          value={chosen}
          aria-label="Entry of the history"
          aria-valuetext={entry === undefined ? 'none' : `${chosen + 1} of ${path.length}: ${wordOf(entry)}`}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
        <button type="button" class="button" disabled={chosen >= last} onClick={() => choose(chosen + 1)}>
          Forward
        </button>
        <span class="number quiet">
          {chosen + 1} of {path.length}
          {!complete && ' (earlier ones are not shown)'}
        </span>
      </div>
      {entry !== undefined && (
        <p class="scrubbed" aria-live="polite">
          <Time at={entry.at} /> <Happened entry={entry} />
        </p>
      )}
    </div>
  );
}

const wordOf = ({ kind, outcome, refused }: PathEntry): string =>
  refused ? 'refused' : kind === 'attempt' ? (outcome ?? 'attempt') : kind.replaceAll('_', ' ');

function Happened({ entry }: { readonly entry: PathEntry }) {
  const { kind, action, call_id: call, outcome, code, reason, refused, times } = entry;
  return (
    <>
      {action === null ? <b>{kind.replaceAll('_', ' ')}</b> : <Foreign text={action} code max={80} />}{' '}
      {kind === 'attempt' && (
        <span class={refused ? 'was-refused' : outcome === 'succeeded' ? 'was-good' : 'quiet'}>
          {refused ? `refused${times > 1 ? ` ${times} times` : ''}` : outcome}
          {code !== null && ` (${code})`}
        </span>
      )}{' '}
      {call !== null && <a href={linkTo('calls', call)}>open the call</a>}{' '}
      {reason !== null && <Foreign text={reason} max={240} />}
    </>
  );
}
