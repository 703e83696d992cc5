/**
 * Any character there is but half of one, as a unit of random texts. fast-check's own takes a second to make, in every
 * process.
 */
import fc from 'fast-check';

export const anyCharacter = fc
  .oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ max: 0x10ffff, min: 0xe000 }))
  .map((point) => String.fromCodePoint(point));
