/** Reads the steps of the improvement loop from the journal. */
import { type Chain, readChain } from '../../core/improvement/chain.ts';
import { improvementSubject } from '../../core/improvement/step.ts';
import type { StoreReader } from '../../ports/store.ts';

export async function readImprovements(
  store: Pick<StoreReader, 'recordsOf'>,
  sha256: (text: string) => string,
): Promise<Chain> {
  return readChain(await store.recordsOf(improvementSubject), sha256);
}
