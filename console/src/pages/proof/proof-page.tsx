/** The page Proof. */
import { Empty } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export function ProofPage() {
  return (
    <>
      <PageHead title="Proof" />
      <Empty title="Nothing here yet" />
    </>
  );
}
