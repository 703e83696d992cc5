/** The page Sessions. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function SessionsPage() {
  return (
    <>
      <PageHead title="Sessions" />
      <Empty title="Nothing here yet" />
    </>
  );
}
