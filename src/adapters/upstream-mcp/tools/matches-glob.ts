/**
 * Whether a name matches a glob: `*` stands for any characters, `?` for one. The time is at most the product of the
 * lengths.
 */
export function matchesGlob(glob: string, name: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let resumeAt = 0;
  while (at < name.length) {
    const sign = glob[inGlob];
    if (sign === '*') {
      star = inGlob++;
      resumeAt = at;
    } else if (sign !== undefined && (sign === '?' || sign === name[at])) {
      inGlob++;
      at++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++resumeAt;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}
