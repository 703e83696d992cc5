/** Finds the known name that was probably meant; null if none is close enough. */
export function nearest(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > maxCompared) return null;
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

/** What comparing two names costs grows with both. */
const maxCompared = 64;

/** How far a name is from what was wanted, which may lack the server before the slash. */
export function distance(wanted: string, name: string): number {
  const asked = wanted.slice(0, maxCompared).toLowerCase();
  const whole = name.slice(0, maxCompared).toLowerCase();
  const slash = whole.indexOf('/');
  const apart = editDistance(asked, whole);
  return slash < 0 ? apart : Math.min(apart, editDistance(asked, whole.slice(slash + 1)));
}

/**
 * The one tool of this name, if the server before the slash was left out; null if there is none, or there are several.
 */
export function nearestServed(wanted: string, names: readonly string[]): string | null {
  const served = names.filter((name) => name.endsWith(`/${wanted}`));
  return served.length === 1 ? (served[0] ?? null) : null;
}

/** The tool that has this name over MCP: `server__tool`, its end perhaps eight digits that tell it from others. */
export function namedForModels(wanted: string, names: readonly string[]): string | null {
  const stem = wanted.replace(/_[0-9a-f]{8}$/, '');
  const named = names.filter((name) => {
    const joined = name.replace('/', '__');
    if (joined === wanted) return true;
    return stem !== wanted && joined.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, markedChars) === stem;
  });
  return named.length === 1 ? (named[0] ?? null) : null;
}

/** Of a name that is too long for models this much is kept. */
const markedChars = 55;

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
