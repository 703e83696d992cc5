/** What does a problem of the journal mean to the person who must act on it? In the words of core/journal/verify.ts. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^the hash does not match/, 'the record, or its place in the chain, was changed after it was written'],
  [/^record \d+ is missing/, 'a record was taken out of the chain'],
  [/^the epoch starts at record/, 'the first records of this epoch were taken out'],
  [/^the epoch does not start|^epoch_open cannot/, 'the first record of this epoch was changed or taken out'],
  [/^epoch_open names/, 'the end of the epoch before was cut off, changed or replaced'],
  [/^the header says/, 'the record was moved to another place'],
  [/^the record belongs to another chain/, 'the record was copied here from another journal'],
  [/^payload '.*' does not match/, 'the arguments, the reply or another part was changed after it was written'],
  [/^payload '.*' is missing/, 'the part was deleted outside of the gateway'],
  [/^a payload has no commitment/, 'a part was added after the record was written'],
  [/^the row (?:names|is called)/, 'the record was filed under another call or kind than it was written for'],
  [/^the store was opened/, 'the journal was cut: records of whole epochs are gone'],
  [/is not known$/, 'the record was changed, or a newer version wrote it'],
  [/^the header (?:ends|has)|^a number in the header/, 'the record is damaged'],
];

/** For what nobody has put into words yet. */
export const anyMeaning = 'the record is not what was written';

export function meaningOf(problem: string): string {
  return meanings.find(([pattern]) => pattern.test(problem))?.[1] ?? anyMeaning;
}
