/** A call of which nobody knows whether it happened, and what a person can say about it. */
import { useState } from 'preact/hooks';
import { CallStateBadge } from '../../parts/call-state.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Age } from '../../parts/time.tsx';
import { inbox, loadInbox } from '../../state/inbox.ts';
import { linkTo } from '../../state/route.ts';
import { mayDo } from '../../state/session.ts';
import { SettleForm } from './settle-form.tsx';

export function DoubtDetail({ id }: { readonly id: string }) {
  const [settled, setSettled] = useState(false);
  const found = inbox.value.items?.find((item) => item.id === id);
  if (found?.kind !== 'doubt')
    return (
      <Empty title={settled ? 'It is settled' : 'This call is not in doubt any more'}>
        <a href={linkTo('calls', id)}>Read what became of it</a>
      </Empty>
    );
  const { call } = found;
  const done = () => {
    setSettled(true);
    void loadInbox();
  };
  return (
    <article class="card" aria-label="Call in doubt">
      <header class="card-head">
        <h2 tabIndex={-1}>
          <Foreign text={call.tool} />
        </h2>
        <CallStateBadge state={call.state} />
      </header>
      <div class="card-body stack">
        <p>
          The call was sent, and no answer says whether it took effect. It is not sent again. Look at the other side,
          then say what you found. <a href={linkTo('calls', id)}>Open the call</a>
        </p>
        <p class="quiet">
          Asked by <Foreign text={call.agent} />, in doubt since <Age at={call.updated_at} />, sent {call.attempts}{' '}
          times.
        </p>
        {mayDo('administer') ? (
          <SettleForm id={id} done={done} />
        ) : (
          <p class="quiet">Only an admin may say what became of it.</p>
        )}
      </div>
    </article>
  );
}
