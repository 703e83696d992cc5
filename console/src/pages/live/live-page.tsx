/** The page Live. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function LivePage() {
  return (
    <>
      <PageHead title="Live" />
      <Empty title="Nothing here yet" />
    </>
  );
}
