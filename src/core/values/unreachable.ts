/**
 * Assertions for states that cannot occur. They report our own bugs, never a caller's mistake or a fault of the
 * outside world.
 */

/** Ends an exhaustive switch: a forgotten case is a compile error, a value that lied about its type throws. */
export function unreachable(value: never): never {
  throw new Error(`bug: unhandled case ${JSON.stringify(value)}`);
}

/** States what must hold at this line. A failure is our bug, never the caller's mistake. */
export function invariant(holds: boolean, statement: string): asserts holds {
  if (!holds) throw new Error(`bug: ${statement}`);
}
