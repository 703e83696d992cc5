/** One call: what was decided and why, what happened when, what was asked and told, and the records that say so. */
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { Empty } from '../../parts/notice.tsx';
import { Load } from '../../parts/load.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { get } from '../../state/api.ts';
import { linkTo } from '../../state/route.ts';
import { useResource } from '../../state/resource.ts';
import type { PageProps } from '../page-props.ts';
import { CallActions } from './call-actions.tsx';
import { CallHead } from './call-head.tsx';
import { Exchange } from './exchange.tsx';
import { Ladder } from './ladder.tsx';
import { Records } from './records.tsx';
import { RuleSource } from './rule-source.tsx';
import { Timeline } from './timeline.tsx';
import './call.css';

/** A call that is not over changes; looking again is cheap. */
const lookEveryMs = 2_000;

export function CallPage({ id }: PageProps) {
  const story = useResource<CallStoryView>(
    (signal) => get(`/v1/calls/${encodeURIComponent(id)}/story`, signal),
    [id],
    lookEveryMs,
  );
  if (id === '')
    return (
      <>
        <PageHead title="Call" />
        <Empty title="No call was named">
          Open one from <a href={linkTo('live')}>Live</a>, or put its id into the address: the first letters are enough.
        </Empty>
      </>
    );
  return <Load of={story}>{(found) => <Story story={found} reload={() => void story.load()} />}</Load>;
}

function Story({ story, reload }: { readonly story: CallStoryView; readonly reload: () => void }) {
  return (
    <>
      <CallHead story={story} />
      <CallActions story={story} reload={reload} />
      <div class="stack">
        <div class="columns">
          <Ladder story={story} />
          <div class="stack">
            <Timeline story={story} />
            {story.rule_ref !== null && <RuleSource at={story.rule_ref} />}
          </div>
        </div>
        <Exchange story={story} />
        <Records records={story.records} />
      </div>
    </>
  );
}
