/** One call in the list, and the head of its columns. */
import { CallStateBadge } from '../../parts/call-state.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import type { LiveCall } from '../../state/live.ts';
import { linkTo } from '../../state/route.ts';
import { lengthOf } from '../../state/time.ts';

const columns = ['Time', 'Outcome', 'Tool', 'Agent', 'Code', 'Took', 'Session'];

export function LiveHead() {
  return (
    <div class="live-head live-columns" role="rowgroup">
      <div class="live-columns" role="row">
        {columns.map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
    </div>
  );
}

const isOver = ({ state }: LiveCall): boolean =>
  state !== 'PREPARED' && state !== 'DISPATCHED' && state !== 'RETRY_WAIT' && state !== 'AWAITING_APPROVAL';

export function LiveRow({ call }: { readonly call: LiveCall }) {
  return (
    <div class="live-row live-columns" role="presentation">
      <span role="cell">
        <Time at={call.createdMs} />
      </span>
      <span role="cell">
        <CallStateBadge state={call.state} />
      </span>
      <span role="cell" class="live-tool">
        <a href={linkTo('calls', call.id)} class="stretched">
          <Foreign text={call.tool} max={80} />
        </a>
      </span>
      <span role="cell">
        <Foreign text={call.agent} max={40} />
      </span>
      <span role="cell" class="code">
        {call.code}
      </span>
      <span role="cell" class="number quiet">
        {isOver(call) ? lengthOf(Math.max(0, call.updatedMs - call.createdMs)) : '…'}
      </span>
      <span role="cell" class="code quiet live-session">
        {call.session === null ? '' : <Foreign text={call.session} max={40} />}
      </span>
    </div>
  );
}
