/** What can be done with a call: explain it anew, replay its failures, make a golden, settle a doubt. */
import { useState } from 'preact/hooks';
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { isObject } from '../../../../src/core/values/json.ts';
import { ExplainDialog } from './explain-dialog.tsx';
import { GoldenDialog } from './golden-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SettleDialog } from './settle-dialog.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { mayDo } from '../../state/session.ts';
import { type Reversal, ReverseDialog } from './reverse-dialog.tsx';

type Open = 'explain' | 'replay' | 'golden' | 'settle' | 'reverse' | null;

interface CallActionsProps {
  readonly story: CallStoryView;
  readonly reload: () => void;
}

export function CallActions({ story, reload }: CallActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const hasFailed = story.records.some(({ kind }) => kind === 'attempt_finished');
  const inDoubt = story.call.state === 'IN_DOUBT';
  const reversal = useReversal(story);
  const canReverse = reversal !== null && reversal.state === 'armed' && mayDo('administer');
  return (
    <div class="row call-actions">
      {inDoubt && mayDo('administer') && <Choice open={() => setOpen('settle')} name="Settle…" main />}
      {canReverse && <Choice open={() => setOpen('reverse')} name="Reverse…" />}
      <Choice open={() => setOpen('explain')} name="Explain as of now" />
      {hasFailed && <Choice open={() => setOpen('replay')} name="Replay the failures" />}
      {hasFailed && <Choice open={() => setOpen('golden')} name="Make a golden" />}
      {open === 'explain' && <ExplainDialog story={story} close={close} />}
      {open === 'replay' && <ReplayDialog id={story.call.call_id} close={close} />}
      {open === 'golden' && <GoldenDialog id={story.call.call_id} close={close} />}
      {open === 'reverse' && reversal !== null && <ReverseDialog reversal={reversal} close={close} done={reload} />}
      {open === 'settle' && <SettleDialog story={story} close={close} done={reload} />}
    </div>
  );
}

/** Null where the call cannot be undone: only a reply with a token says that it can. */
function useReversal({ call, reply }: CallStoryView): Reversal | null {
  const path = `/v1/calls/${encodeURIComponent(call.call_id)}/reversal`;
  const hasToken = reply.kind === 'text' && isObject(reply.value) && 'reversal_token' in reply.value;
  const wanted = call.state === 'SUCCEEDED' && hasToken;
  const found = useResource<Reversal>(
    async (signal) => (wanted ? get<Reversal>(path, signal) : { ok: false, problem: nothing }),
    [path, wanted],
  );
  return found.state.value.value;
}

const nothing = { status: 404, code: 'not_asked', detail: '' };

interface ChoiceProps {
  readonly open: () => void;
  readonly name: string;
  readonly main?: boolean;
}

function Choice({ open, name, main = false }: ChoiceProps) {
  return (
    <button type="button" class={`button${main ? ' button-main' : ''}`} onClick={open}>
      {name}
    </button>
  );
}
