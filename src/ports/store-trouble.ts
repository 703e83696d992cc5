/** Why a store cannot commit. */
/**
 * Only after `io` and `owner_gone` may the transition have been applied; the others prove that it was not.
 * `lost`: the file on the disk is not the store any more. `no_owner`: there is no process to forward it to.
 */
export type StoreFault =
  | 'disk_full'
  | 'read_only'
  | 'io'
  | 'owner_gone'
  | 'no_owner'
  | 'overloaded'
  | 'closed'
  | 'fenced'
  | 'lost';

/** Why nothing can be committed, in a sentence for the operator. */
export interface StoreTrouble {
  readonly fault: StoreFault;
  readonly message: string;
}
