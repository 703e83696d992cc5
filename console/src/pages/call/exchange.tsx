/** What the agent asked and what it was told, exactly: as a table, or as the JSON of the reply. */
import { useState } from 'preact/hooks';
import type { CallStoryView, Shown } from '../../../../src/core/http/look/call-look.ts';
import { isObject, type Json } from '../../../../src/core/values/json.ts';
import { Card } from '../../parts/card.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonView } from '../../parts/json-view.tsx';

export function Exchange({ story: { args, reply } }: { readonly story: CallStoryView }) {
  const [raw, setRaw] = useState(false);
  const result = resultIn(reply);
  const toggle = (
    <button type="button" class="link-button" aria-pressed={raw} onClick={() => setRaw(!raw)}>
      {raw ? 'as a table' : 'as JSON'}
    </button>
  );
  return (
    <div class="columns">
      <Card title="Request" extra={toggle}>
        <Part shown={args} raw={raw} none="No arguments are on record." />
      </Card>
      <div class="stack">
        {result !== undefined && (
          <Card title="Result">
            <Part shown={{ kind: 'text', value: result }} raw={raw} none="" />
          </Card>
        )}
        <Card title="The exact reply" extra={toggle}>
          <Part shown={reply} raw={raw} none="The agent has no reply yet." />
        </Card>
      </div>
    </div>
  );
}

function resultIn(reply: Shown): Json | undefined {
  return reply.kind === 'text' && isObject(reply.value) ? reply.value['result'] : undefined;
}

interface PartProps {
  readonly shown: Shown;
  readonly raw: boolean;
  readonly none: string;
}

function Part({ shown, raw, none }: PartProps) {
  if (shown.kind === 'text')
    return raw ? <Foreign text={JSON.stringify(shown.value, null, 2)} block code /> : <JsonView value={shown.value} />;
  if (shown.kind === 'none') return <p class="quiet">{none}</p>;
  if (shown.kind === 'erased') return <p class="quiet">It was erased. Its commitment stays on record.</p>;
  return (
    <p class="act-problem" role="alert">
      It does not match its record: the database was changed. Open Proof to see where.
    </p>
  );
}
