/**
 * What must not reach a model: secrets in an error text. Patterns with a linear-time shape only, because the
 * text comes from a tool. The audit keeps the full text apart; this is for replies.
 */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, '[redacted key]'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, '[redacted token]'],
  [/\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_])?[A-Za-z0-9_-]{16,}/g, '[redacted key]'],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, '[redacted token]'],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, '[redacted token]'],
  [/\bAKIA[0-9A-Z]{16}\b/g, '[redacted key]'],
  [/(:\/\/[^\s:/@]{1,200}):[^\s/@]{1,200}@/g, '$1:[redacted]@'],
  [
    /\b(api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|secret|password|passwd|pwd)(["']?\s{0,3}[:=]\s{0,3})["']?[^\s"',;&]{1,500}/gi,
    '$1$2[redacted]',
  ],
];

/** Safe for a reply: well-formed, without known secrets, at most `maxChars` long. */
export function safeText(text: string, maxChars: number): string {
  // The cut comes first, so that a huge text cannot make the patterns expensive; a secret is never longer than the rest.
  let safe = text.slice(0, maxChars + 1_000).toWellFormed();
  for (const [pattern, replacement] of secrets) safe = safe.replace(pattern, replacement);
  return safe.length <= maxChars ? safe : `${safe.slice(0, maxChars - 1).toWellFormed()}…`;
}
