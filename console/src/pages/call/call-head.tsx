/** The head of a call: its tool, state, what that means, and who asked when. */
import { useEffect } from 'preact/hooks';
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { callStates, codes, type ErrorCode, effectClasses, effects } from '../../../../src/core/taxonomy.ts';
import { isObject } from '../../../../src/core/values/json.ts';
import { CallStateBadge } from '../../parts/call-state.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Age, Time } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';

export function CallHead({ story }: { readonly story: CallStoryView }) {
  const { call } = story;
  useEffect(() => {
    document.title = 'Call · Recourse';
  }, []);
  return (
    <header class="call-head">
      <p class="quiet">
        <a href={linkTo('live')}>Live</a> / call
      </p>
      <div class="row">
        <h1>
          <Foreign text={call.tool} max={120} />
        </h1>
        <CallStateBadge state={call.state} />
      </div>
      <p>
        {callStates[call.state].meaning} <Advice story={story} />
      </p>
      <dl class="call-facts">
        <Fact name="Agent">
          <Foreign text={call.agent} max={60} />
        </Fact>
        <Fact name="Asked">
          <Time at={call.created_at} full />{' '}
          <span class="quiet">
            (<Age at={call.created_at} />)
          </span>
        </Fact>
        <Fact name="Effect">
          <span title={effects[call.effect].meaning}>{call.effect}</span>
        </Fact>
        <Fact name="Effect class">
          <span title={effectClasses[call.effect_class].meaning}>{call.effect_class}</span>
        </Fact>
        <Fact name="Sends">{call.attempts}</Fact>
        {call.repeats > 0 && <Fact name="Asked again">{call.repeats} times, answered the same</Fact>}
        {call.session !== null && (
          <Fact name="Session">
            <a href={linkTo('sessions', call.session)}>
              <Foreign text={call.session} max={60} code />
            </a>
          </Fact>
        )}
        <Fact name="Id">
          <code>{call.call_id}</code>
          <CopyButton text={call.call_id} what="the id" />
        </Fact>
      </dl>
    </header>
  );
}

/** What the taxonomy tells an operator about the code of the reply. */
function Advice({ story: { reply } }: { readonly story: CallStoryView }) {
  const code = reply.kind === 'text' && isObject(reply.value) ? reply.value['code'] : null;
  if (typeof code !== 'string' || !Object.hasOwn(codes, code)) return null;
  const entry = codes[code as ErrorCode];
  return (
    <>
      <code>{String(code)}</code>: {entry.meaning} <span class="quiet">{entry.operator}</span>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: preact.ComponentChildren;
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
