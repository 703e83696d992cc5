/** What a source states about behaviour: in our words, where it works, and what differs. */
export interface Stated {
  /** The heading in its source. */
  readonly at: string;
  readonly says: string;
  /** A file or a guide. */
  readonly where: string;
  /** What we do otherwise, and why. */
  readonly differs: string | null;
  /** Why nothing of it is here. */
  readonly absent: string | null;
}

/** For one heading of a source. */
export const under =
  (at: string) =>
  (says: string, where: string, differs: string | null = null): Stated => ({ at, says, where, differs, absent: null });

export const absent = (at: string, says: string, why: string, where: string): Stated => ({
  at,
  says,
  where,
  differs: null,
  absent: why,
});
