/** The page Inbox: approvals, tickets and calls in doubt in one list, and the chosen one beside it. */
import { useEffect } from 'preact/hooks';
import { Loading, ProblemNote } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { inbox, loadInbox } from '../../state/inbox.ts';
import { usePageKeys } from '../../state/page-keys.ts';
import { go } from '../../state/route.ts';
import type { PageProps } from '../page-props.ts';
import './inbox.css';
import { inboxKeys, listenToInboxKeys } from './inbox-keys.ts';
import { NotifyButton } from './notify-button.tsx';
import { WaitingColumns } from './waiting-columns.tsx';

export function InboxPage({ id }: PageProps) {
  const { items, total, problem } = inbox.value;
  usePageKeys(inboxKeys);
  useEffect(() => listenToInboxKeys(), []);
  const first = items?.[0]?.id;
  useEffect(() => {
    // A wide screen shows one of them at once; on a narrow one the list comes first.
    if (id === '' && first !== undefined && matchMedia('(width >= 1000px)').matches) go('inbox', first);
  }, [id, first]);
  return (
    <>
      <PageHead title="Inbox" says="What waits for a person. Nothing of it runs, or is settled, by itself.">
        <NotifyButton />
      </PageHead>
      {problem !== null && <ProblemNote problem={problem} again={() => void loadInbox()} />}
      {items === null && problem === null && <Loading />}
      {items !== null && <WaitingColumns items={items} total={total} id={id} />}
    </>
  );
}
