/** What a person wrote, as it is kept: one line, without secrets and control characters, and not too long. */
import { safeText } from '../../core/values/redact.ts';

const maxNoteChars = 500;

/** Null if there is nothing in it. */
export function writtenNote(said: unknown): string | null {
  if (typeof said !== 'string') return null;
  const text = safeText(said.toWellFormed().replaceAll(/\p{Cc}+/gu, ' '), maxNoteChars).trim();
  return text === '' ? null : text;
}
