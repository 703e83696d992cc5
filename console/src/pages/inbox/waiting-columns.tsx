/** What waits beside the one that is chosen; or, if nothing does, what would be here. */
import { Empty } from '../../parts/notice.tsx';
import type { WaitingItem } from '../../state/inbox.ts';
import { ApprovalDetail } from './approval-detail.tsx';
import { DoubtDetail } from './doubt-detail.tsx';
import { InboxList } from './inbox-list.tsx';
import { TicketDetail } from './ticket/ticket-detail.tsx';

interface WaitingColumnsProps {
  readonly items: readonly WaitingItem[];
  /** How many wait in all. */
  readonly total: number;
  /** The chosen one; empty if none is. */
  readonly id: string;
}

export function WaitingColumns({ items, total, id }: WaitingColumnsProps) {
  if (items.length === 0 && id === '')
    return (
      <Empty icon="inbox" title="Nothing waits for you">
        <p>
          Calls that a rule defers, failures that only a person can settle, and calls of which nobody knows whether they
          happened come here. Leave this page open: its tab tells when there is something.
        </p>
      </Empty>
    );
  const kind = items.find((item) => item.id === id)?.kind ?? kindOf(id);
  return (
    <div class={`inbox-columns${id === '' ? '' : ' has-chosen'}`}>
      <div class="inbox-side">
        {items.length > 0 && <InboxList items={items} chosen={id} />}
        {total > items.length && <p class="quiet">{total - items.length} more wait; these are due first.</p>}
        {items.length === 0 && <p class="quiet">Nothing else waits.</p>}
      </div>
      <div class="inbox-detail">{id !== '' && <Detail key={id} id={id} kind={kind} />}</div>
    </div>
  );
}

/** What is no longer in the list is still shown: somebody may have decided it just now. */
function kindOf(id: string): WaitingItem['kind'] {
  if (id.startsWith('call_')) return 'doubt';
  return id.startsWith('tkt_') ? 'ticket' : 'approval';
}

function Detail({ id, kind }: { readonly id: string; readonly kind: WaitingItem['kind'] }) {
  switch (kind) {
    case 'doubt':
      return <DoubtDetail id={id} />;
    case 'ticket':
      return <TicketDetail id={id} />;
    default:
      return <ApprovalDetail id={id} />;
  }
}
