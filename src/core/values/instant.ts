/** Writes an instant as RFC 3339 in UTC, in whole seconds. Pure: the language's own dates are tied to a clock. */

const format = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export function instantText(atMs: number): string {
  const parts: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(atMs)) parts[type] = value;
  const { year = '', month, day, hour, minute, second } = parts;
  return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
