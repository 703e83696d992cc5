/** Ends an exhaustive switch. A copy of the core's, of which only types may be imported here. */
export function unreachable(value: never): never {
  throw new Error(`bug: unhandled case ${JSON.stringify(value)}`);
}
