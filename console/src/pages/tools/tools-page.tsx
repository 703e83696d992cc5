/** The page Tools. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function ToolsPage() {
  return (
    <>
      <PageHead title="Tools" />
      <Empty title="Nothing here yet" />
    </>
  );
}
