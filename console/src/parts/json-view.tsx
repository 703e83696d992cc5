/**
 * A JSON value as a table of names and values. Names and texts are of others, so both go through `<Foreign>`, and a
 * text stands in quotes: it cannot pass for a number, a name, or a value that was redacted.
 */
import { useState } from 'preact/hooks';
import type { Json } from '../../../src/core/values/json.ts';
import { Foreign } from './foreign.tsx';

/** What masks put in place of a value. */
const redactedText = '[redacted]';
const firstShown = 60;
const maxDepth = 24;

export function JsonView({ value, depth = 0 }: { readonly value: Json; readonly depth?: number }) {
  const [all, setAll] = useState(false);
  if (value === null || typeof value !== 'object') return <Scalar value={value} />;
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string, Json])[] = isList
    ? value.map((each, at) => [String(at), each] as const)
    : Object.entries(value).map(([name, each]) => [name, each ?? null] as const);
  if (entries.length === 0) return <span class="code quiet">{isList ? '[ ] empty list' : '{ } empty'}</span>;
  if (depth >= maxDepth) return <Foreign text={JSON.stringify(value)} code />;
  const shown = all ? entries : entries.slice(0, firstShown);
  return (
    <dl class={`json${isList ? ' json-list' : ''}`}>
      {shown.map(([name, each]) => (
        <div key={name} class="json-row">
          <dt>{isList ? <span class="quiet number">{name}</span> : <Foreign text={name} max={80} code />}</dt>
          <dd>
            <JsonView value={each} depth={depth + 1} />
          </dd>
        </div>
      ))}
      {entries.length > shown.length && (
        <button type="button" class="link-button" onClick={() => setAll(true)}>
          show all {entries.length.toLocaleString('en')}
        </button>
      )}
    </dl>
  );
}

function Scalar({ value }: { readonly value: string | number | boolean | null }) {
  if (typeof value !== 'string') return <span class="code json-scalar">{String(value)}</span>;
  if (value === redactedText)
    return (
      <span class="redacted" title="Removed by a redaction before it was recorded">
        redacted
      </span>
    );
  if (value.includes('\n')) return <Foreign text={value} block code />;
  return (
    <span class="json-text">
      <span class="quiet">“</span>
      <Foreign text={value} max={400} />
      <span class="quiet">”</span>
    </span>
  );
}
