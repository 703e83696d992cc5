/** A golden of the call, to be kept beside the configuration, where `recourse golden run` finds it. */
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';

interface Golden {
  readonly file: string | null;
  readonly text: string | null;
  readonly problem: string | null;
}

export function GoldenDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const made = useResource<Golden>((signal) => get(`/v1/calls/${encodeURIComponent(id)}/golden`, signal), [id]);
  return (
    <Dialog title="Golden" close={close}>
      <Load of={made}>
        {({ file, text, problem }) =>
          text === null ? (
            <p>No golden can be made: {problem}.</p>
          ) : (
            <>
              <p>
                Keep it as <code>{file}</code> beside recourse.yaml: <code>recourse golden run</code> then tells
                whenever this failure would be handled otherwise. <CopyButton text={text} what="the golden" />
              </p>
              <Foreign text={text} block code max={20_000} />
            </>
          )
        }
      </Load>
    </Dialog>
  );
}
