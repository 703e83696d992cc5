/** Whether the recorded failures, decided again, come out as recorded. */
import type { Json } from '../../../../src/core/values/json.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Load } from '../../parts/load.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';

interface Replayed {
  readonly replay: 'equal' | 'different' | 'impossible';
  readonly failures?: number;
  readonly missing?: string;
  readonly difference?: Json;
}

export function ReplayDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const made = useResource<Replayed>((signal) => get(`/v1/calls/${encodeURIComponent(id)}/replay`, signal), [id]);
  return (
    <Dialog title="Replay" close={close}>
      <p class="quiet">
        Verdicts, compensation, schedule and outcome are decided again from the records alone. Nothing is sent.
      </p>
      <Load of={made}>{(found) => <Outcome made={found} />}</Load>
    </Dialog>
  );
}

function Outcome({ made }: { readonly made: Replayed }) {
  if (made.replay === 'equal')
    return (
      <p class="dialog-verdict">
        <Badge tone="good">Equal</Badge> {made.failures} {made.failures === 1 ? 'failure' : 'failures'}, decided as
        recorded.
      </p>
    );
  if (made.replay === 'impossible')
    return (
      <p class="dialog-verdict">
        <Badge tone="held">Cannot be replayed</Badge> The store lacks {made.missing}.
      </p>
    );
  return (
    <>
      <p class="dialog-verdict">
        <Badge tone="bad">Different</Badge> The first difference:
      </p>
      <JsonView value={made.difference ?? null} />
    </>
  );
}
