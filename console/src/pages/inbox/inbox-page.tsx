/** The page Inbox. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function InboxPage() {
  return (
    <>
      <PageHead title="Inbox" />
      <Empty title="Nothing here yet" />
    </>
  );
}
