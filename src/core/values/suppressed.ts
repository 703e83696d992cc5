/** The notice of an error that is ignored on purpose. Total: whatever was thrown, it is told in a line. */
export interface SuppressedNotice {
  readonly kind: 'suppressed';
  /** What was given up, such as 'a sweep'. */
  readonly what: string;
  readonly reason: string;
}

export function suppressed(what: string, error: unknown): SuppressedNotice {
  return { kind: 'suppressed', what, reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'something that cannot be read';
  }
}
