/** What every page is given. */
export interface PageProps {
  /** The rest of the address; empty for the page itself. */
  readonly id: string;
}
