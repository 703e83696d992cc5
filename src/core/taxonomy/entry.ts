/** The texts that every entry of the taxonomy has: plain English, a sentence each. */
export interface Entry {
  readonly title: string;
  readonly meaning: string;
  /** What an agent should do when it meets this. */
  readonly agent: string;
  /** What the person who runs the gateway should do. */
  readonly operator: string;
}
