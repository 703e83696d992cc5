/** The page Call. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function CallPage() {
  return (
    <>
      <PageHead title="Call" />
      <Empty title="Nothing here yet" />
    </>
  );
}
