/** What would be decided about the same call now, by the policy and the facts of this moment. Nothing runs. */
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import type { Explanation } from '../../../../src/core/gates/explain.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Load } from '../../parts/load.tsx';
import { ask } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { Rungs } from './ladder.tsx';

const words = {
  run: ['good', 'It would run'],
  refuse: ['bad', 'It would be refused'],
  hold: ['held', 'It would wait for a person'],
} as const;

interface ExplainDialogProps {
  readonly story: CallStoryView;
  readonly close: () => void;
}

export function ExplainDialog({ story: { call, args }, close }: ExplainDialogProps) {
  const body = {
    tool: call.tool,
    agent: call.agent,
    ...(args.kind === 'text' ? { args: args.value } : {}),
    ...(call.session === null ? {} : { session: call.session }),
  };
  const explained = useResource<Explanation>((signal) => ask('POST', '/v1/evaluate', body, signal), []);
  return (
    <Dialog title="Decided as of now" close={close}>
      <p class="quiet">Nothing runs and nothing is recorded. Redacted arguments are judged as they are shown here.</p>
      <Load of={explained}>
        {({ decision, rungs }) => {
          const [tone, says] = words[decision];
          return (
            <>
              <p class="dialog-verdict">
                <Badge tone={tone}>{says}</Badge>
              </p>
              <Rungs ladder={rungs} />
            </>
          );
        }}
      </Load>
    </Dialog>
  );
}
