/** The raw records of a call, each with its hash, and a mark once this browser has verified it. */
import { useState } from 'preact/hooks';
import type { CallRecord } from '../../../../src/core/http/look/call-look.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Time } from '../../parts/time.tsx';
import { canVerify, type Mark, verifyRecord } from '../../state/verify.ts';

export function Records({ records }: { readonly records: readonly CallRecord[] }) {
  const [marks, setMarks] = useState<Readonly<Record<string, Mark>>>({});
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    for (const { position } of records) {
      const mark = await verifyRecord(position);
      setMarks((before) => ({ ...before, [position]: mark }));
    }
    setBusy(false);
  };
  return (
    <Card
      title={`Records (${records.length})`}
      extra={
        canVerify() && (
          <button type="button" class="button" disabled={busy} onClick={() => void verify()}>
            {busy ? 'Verifying…' : 'Verify these records'}
          </button>
        )
      }
    >
      <ol class="records">
        {records.map((record) => (
          <RecordRow key={record.position} record={record} mark={marks[record.position] ?? null} />
        ))}
      </ol>
    </Card>
  );
}

const markWords = { verified: 'Verified', broken: 'Does not verify', unknown: 'Could not be read' } as const;
const markTones = { verified: 'good', broken: 'bad', unknown: 'quiet' } as const;

function RecordRow({ record, mark }: { readonly record: CallRecord; readonly mark: Mark | null }) {
  return (
    <li>
      <details>
        <summary class="record-line">
          <span class="number">{record.position}</span>
          <strong>{record.kind}</strong>
          <Time at={record.at} />
          <code class="quiet record-hash">{record.hash.slice(0, 16)}…</code>
          {mark !== null && <Badge tone={markTones[mark]}>{markWords[mark]}</Badge>}
        </summary>
        <p class="quiet">{record.meaning}</p>
        <p>
          <code class="hash">{record.hash}</code>
        </p>
        <h3>Body</h3>
        <JsonView value={record.body} />
        {record.payloads.map(({ part, text }) => (
          <div key={part}>
            <h3>{part}</h3>
            {text === null ? <p class="quiet">erased; its commitment stays</p> : <JsonView value={parsed(text)} />}
          </div>
        ))}
      </details>
    </li>
  );
}

function parsed(text: string): CallRecord['body'] {
  try {
    return JSON.parse(text) as CallRecord['body'];
  } catch {
    // Ignored: a damaged record is shown as it is.
    return text;
  }
}
