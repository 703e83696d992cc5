/** The page Inbox: approvals, tickets and calls in doubt in one list, and the chosen one beside it. */
import { useEffect } from 'preact/hooks';
import { Empty, Loading, ProblemNote } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { inbox, loadInbox, type WaitingItem } from '../../state/inbox.ts';
import { usePageKeys } from '../../state/page-keys.ts';
import { go } from '../../state/route.ts';
import type { PageProps } from '../pages.ts';
import { ApprovalDetail } from './approval-detail.tsx';
import { DoubtDetail } from './doubt-detail.tsx';
import './inbox.css';
import { InboxList } from './inbox-list.tsx';
import { inboxKeys, listenToInboxKeys } from './inbox-keys.ts';
import { NotifyButton } from './notify-button.tsx';
import { TicketDetail } from './ticket-detail.tsx';

export function InboxPage({ id }: PageProps) {
  const { items, total, problem } = inbox.value;
  usePageKeys(inboxKeys);
  useEffect(() => listenToInboxKeys(), []);
  const chosen = items?.find((item) => item.id === id);
  const first = items?.[0];
  useEffect(() => {
    // A wide screen shows one of them at once; on a narrow one the list comes first.
    if (id === '' && first !== undefined && matchMedia('(width >= 1000px)').matches) go('inbox', first.id);
  }, [id, first?.id]);
  return (
    <>
      <PageHead title="Inbox" says="What waits for a person. Nothing of it runs, or is settled, by itself.">
        <NotifyButton />
      </PageHead>
      {problem !== null && <ProblemNote problem={problem} again={() => void loadInbox()} />}
      {items === null && problem === null && <Loading />}
      {items !== null && items.length === 0 && id === '' && (
        <Empty icon="inbox" title="Nothing waits for you">
          <p>
            Calls that a rule defers, failures that only a person can settle, and calls of which nobody knows whether
            they happened come here. Leave this page open: its tab tells when there is something.
          </p>
        </Empty>
      )}
      {items !== null && (items.length > 0 || id !== '') && (
        <div class={`inbox-columns${id === '' ? '' : ' has-chosen'}`}>
          <div class="inbox-side">
            {items.length > 0 && <InboxList items={items} chosen={id} />}
            {total > items.length && <p class="quiet">{total - items.length} more wait; these are due first.</p>}
            {items.length === 0 && <p class="quiet">Nothing else waits.</p>}
          </div>
          <div class="inbox-detail">{id !== '' && <Detail key={id} id={id} item={chosen} />}</div>
        </div>
      )}
    </>
  );
}

/** What is no longer in the list is still shown: somebody may have decided it just now. */
function Detail({ id, item }: { readonly id: string; readonly item: WaitingItem | undefined }) {
  if (item?.kind === 'doubt' || (item === undefined && id.startsWith('call_'))) return <DoubtDetail id={id} />;
  if (item?.kind === 'ticket' || (item === undefined && id.startsWith('tkt_'))) return <TicketDetail id={id} />;
  return <ApprovalDetail id={id} />;
}
