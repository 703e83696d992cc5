/** What can be done with a call: explain it anew, replay its failures, make a golden, settle a doubt. */
import { useState } from 'preact/hooks';
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { ExplainDialog } from './explain-dialog.tsx';
import { GoldenDialog } from './golden-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SettleDialog } from './settle-dialog.tsx';
import { mayDo } from '../../state/session.ts';

type Open = 'explain' | 'replay' | 'golden' | 'settle' | null;

interface CallActionsProps {
  readonly story: CallStoryView;
  readonly reload: () => void;
}

export function CallActions({ story, reload }: CallActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const hasFailed = story.records.some(({ kind }) => kind === 'attempt_finished');
  const inDoubt = story.call.state === 'IN_DOUBT';
  return (
    <div class="row call-actions">
      {inDoubt && mayDo('administer') && <Choice open={() => setOpen('settle')} name="Settle…" main />}
      <Choice open={() => setOpen('explain')} name="Explain as of now" />
      {hasFailed && <Choice open={() => setOpen('replay')} name="Replay the failures" />}
      {hasFailed && <Choice open={() => setOpen('golden')} name="Make a golden" />}
      {open === 'explain' && <ExplainDialog story={story} close={close} />}
      {open === 'replay' && <ReplayDialog id={story.call.call_id} close={close} />}
      {open === 'golden' && <GoldenDialog id={story.call.call_id} close={close} />}
      {open === 'settle' && <SettleDialog story={story} close={close} done={reload} />}
    </div>
  );
}

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
