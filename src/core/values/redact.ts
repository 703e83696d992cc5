/**
 * Removes secrets from error texts before a model sees them. The text comes from a tool, so all patterns take linear
 * time. The journal keeps the full text.
 */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, '[redacted key]'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]'],
  // A name that says so, then its value: quoted as a whole, or up to the next space.
  [
    /\b([A-Za-z0-9_-]{0,40}(?:api[-_]?key|access[-_]?key|private[-_]?key|token|secret|password|passwd|pwd|cookie|credential)[A-Za-z0-9_-]{0,20})(["']?\s{0,3}[:=]\s{0,3})(?:"[^"]{0,500}"|'[^']{0,500}'|(?!Bearer |Basic )[^\s"',;&]{1,500})/gi,
    '$1$2[redacted]',
  ],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, '[redacted]'],
  [/\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_])?[A-Za-z0-9_-]{16,}/g, '[redacted]'],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, '[redacted]'],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, '[redacted]'],
  [/\bAKIA[0-9A-Z]{16}\b/g, '[redacted]'],
  [/(:\/\/[^\s:/@]{1,200}):[^\s/@]{1,200}@/g, '$1:[redacted]@'],
];

/** Safe for a reply: well-formed, without known secrets, at most `maxChars` long. */
export function safeText(text: string, maxChars: number): string {
  // The cut comes first, so that a huge text cannot make the patterns expensive; a secret is never longer than the
  // rest.
  let safe = text.slice(0, maxChars + 1_000).toWellFormed();
  for (const [pattern, replacement] of secrets) safe = safe.replace(pattern, replacement);
  return safe.length <= maxChars ? safe : `${safe.slice(0, maxChars - 1).toWellFormed()}…`;
}
