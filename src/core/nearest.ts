/** Which known name was probably meant? Null unless one is close enough to be worth a hint. */
export function nearest(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > 64) return null;
  let best: string | null = null;
  // Two letters changed places in a short name are two edits; in a very short one, anything would be near.
  const tolerated = wanted.length <= 3 ? 1 : Math.max(2, Math.floor(wanted.length / 3));
  let bestDistance = tolerated + 1;
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
