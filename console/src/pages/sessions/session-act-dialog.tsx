/** Asks again before a session is changed. */
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { post } from '../../state/api.ts';
import type { SessionAct } from './session-acts.ts';

interface SessionActDialogProps {
  readonly act: SessionAct;
  readonly close: () => void;
  /** `session`: the one that the answer is about. */
  readonly done: (session: string | null) => void;
}

export function SessionActDialog({ act, close, done }: SessionActDialogProps) {
  return (
    <Dialog title={act.title} close={close}>
      <div class="stack">
        <p>{act.says}</p>
        <p class="quiet">Your name goes on record.</p>
        <div class="row">
          <Act
            needs={act.needs}
            kind={act.danger ? 'danger' : 'main'}
            run={() => post<{ readonly session?: string }>(act.path, act.body)}
            done={({ session }) => done(session ?? null)}
          >
            {act.title}
          </Act>
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}
