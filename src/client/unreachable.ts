/** Ends an exhaustive switch, as in the core, of which nothing but types may be imported here. */
export function unreachable(value: never): never {
  throw new Error(`bug: unhandled case ${JSON.stringify(value)}`);
}
