/** A field for JSON: what is wrong with it is said below it, before anything is sent. */
import { useId } from 'preact/hooks';
import type { Json } from '../../../src/core/values/json.ts';

export type ReadJson = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly says: string };

export function readJson(text: string): ReadJson {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, says: error instanceof Error ? error.message : 'this is not JSON' };
  }
}

/** Undefined for a field that is left empty. */
export type ReadOptionalJson =
  | { readonly ok: true; readonly value: Json | undefined }
  | Extract<ReadJson, { ok: false }>;

export const optionalJson = (text: string): ReadOptionalJson =>
  text.trim() === '' ? { ok: true, value: undefined } : readJson(text);

interface JsonFieldProps {
  readonly label: string;
  readonly text: string;
  readonly change: (text: string) => void;
  readonly read: ReadOptionalJson;
  readonly rows?: number;
}

export function JsonField({ label, text, change, read, rows = 8 }: JsonFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}, as JSON</label>
      <textarea
        id={id}
        class="code"
        rows={rows}
        spellcheck={false}
        value={text}
        aria-invalid={!read.ok}
        aria-describedby={`${id}-says`}
        onInput={(event) => change(event.currentTarget.value)}
      />
      <p id={`${id}-says`} class="act-problem" role="status">
        {read.ok ? '' : `This is not JSON yet: ${read.says}`}
      </p>
    </div>
  );
}
