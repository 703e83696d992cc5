/** The reads that a call relies on, and whether they still say the same. Reading them again is asked for. */
import type { EvidenceRead } from '../../../../src/core/approval/approval-context.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Age } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';
import { mayDo } from '../../state/session.ts';

const words: Readonly<Record<EvidenceRead['now'], readonly [Tone, string]>> = {
  unread: ['quiet', 'not read again yet'],
  same: ['good', 'still the same'],
  changed: ['bad', 'has changed: the call would not run'],
  unreadable: ['doubt', 'cannot be read again: the call would not run'],
};

interface EvidenceListProps {
  readonly reads: readonly EvidenceRead[];
  readonly again: () => void;
  readonly loading: boolean;
}

export function EvidenceList({ reads, again, loading }: EvidenceListProps) {
  return (
    <section aria-label="Evidence">
      <h3>What it relies on</h3>
      <ul class="evidence">
        {reads.map(({ call_id: call, tool, args, read_at: at, now, problem }) => {
          const [tone, says] = words[now];
          return (
            <li key={call}>
              <a href={linkTo('calls', call)}>
                <Foreign text={tool} />
              </a>{' '}
              <Foreign text={JSON.stringify(args)} code max={120} /> <Age at={at} /> <Badge tone={tone}>{says}</Badge>
              {problem !== null && <Foreign text={problem} />}
            </li>
          );
        })}
      </ul>
      {mayDo('approve') && (
        <button type="button" class="button" data-key="r" disabled={loading} onClick={again}>
          {loading ? 'Reading…' : 'Read it again'} <kbd aria-hidden="true">r</kbd>
        </button>
      )}
      <p class="quiet">The gateway reads it again before the call runs, and sends nothing if it has changed.</p>
    </section>
  );
}
