/** The page Policy. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function PolicyPage() {
  return (
    <>
      <PageHead title="Policy" />
      <Empty title="Nothing here yet" />
    </>
  );
}
