/**
 * What does every entry of the taxonomy say? Plain English, a sentence each.
 * Must not know any particular list.
 */
export interface Entry {
  readonly title: string;
  readonly meaning: string;
  /** What an agent should do when it meets this. */
  readonly agent: string;
  /** What the person who runs the gateway should do. */
  readonly operator: string;
}
