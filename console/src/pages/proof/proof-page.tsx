/** The head of the journal, and its verification in this browser, with the first bad record named. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { hex, type VerifyReport } from '../../../../src/core/journal/verify.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { ProblemNote } from '../../parts/notice.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Problem } from '../../state/api.ts';
import { canVerify, type Progress, verifyJournal } from '../../state/verify.ts';
import './proof.css';

type Run =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly report: VerifyReport; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly problem: Problem };

const notSafe: Problem = {
  status: 0,
  code: 'cannot hash here',
  detail:
    'browsers hash only on pages from this machine or over TLS: open the console so, or run recourse audit verify where the store is',
};

export function ProofPage() {
  const [run, setRun] = useState<Run>({ kind: 'idle' });
  const ending = useRef<AbortController | null>(null);
  useEffect(() => () => ending.current?.abort(), []);
  const start = async () => {
    const mine = new AbortController();
    ending.current = mine;
    setRun({ kind: 'running', progress: { records: 0, problems: [] } });
    const beganMs = performance.now();
    const answer = await verifyJournal((progress) => setRun({ kind: 'running', progress }), mine.signal);
    if (mine.signal.aborted) return setRun({ kind: 'idle' });
    setRun(
      answer.ok
        ? { kind: 'done', report: answer.value, tookMs: performance.now() - beganMs }
        : { kind: 'failed', problem: answer.problem },
    );
  };
  return (
    <>
      <PageHead
        title="Proof"
        says="Every decision and outcome is a record in a chain of hashes. This browser recomputes all of them from the stored bytes."
      >
        {run.kind === 'running' ? (
          <button type="button" class="button" onClick={() => ending.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="button" class="button button-main" disabled={!canVerify()} onClick={() => void start()}>
            Verify the journal
          </button>
        )}
      </PageHead>
      {!canVerify() && <ProblemNote problem={notSafe} />}
      {run.kind === 'failed' && <ProblemNote problem={run.problem} again={() => void start()} />}
      <div class="stack">
        {run.kind === 'running' && <Running progress={run.progress} />}
        {run.kind === 'done' && <Report report={run.report} tookMs={run.tookMs} />}
        <Card title="What this shows, and what it does not">
          <ul class="says">
            <li>
              No record was changed, removed from the middle, or moved: each hash covers its place and the one before.
            </li>
            <li>
              No argument and no reply was changed: each record commits to them, and an erased one is named as erased.
            </li>
            <li>
              Whoever can write the database can still cut off its end, or rewrite it, back to the last head that
              somebody else has kept. So keep the head elsewhere now and then.
            </li>
          </ul>
        </Card>
      </div>
    </>
  );
}

function Running({ progress }: { readonly progress: Progress }) {
  return (
    <Card title="Verifying">
      <p class="number" role="status">
        {progress.records.toLocaleString('en')} records, {progress.problems.length}{' '}
        {progress.problems.length === 1 ? 'problem' : 'problems'} so far
      </p>
      <progress aria-label="Verification" />
    </Card>
  );
}

function Report({ report, tookMs }: { readonly report: VerifyReport; readonly tookMs: number }) {
  const { problems, records, payloads, erased, epochs, head } = report;
  const [first] = problems;
  const hash = head === null ? '' : hex(head.hash);
  return (
    <Card
      title={first === undefined ? 'The journal is whole' : 'The journal was changed'}
      extra={first === undefined ? <Badge tone="good">Verified</Badge> : <Badge tone="bad">Not whole</Badge>}
    >
      {first !== undefined && (
        <div class="problem" role="alert">
          <div>
            <strong>
              First bad record: {first.epoch}.{first.seq}
            </strong>
            <p>
              <Foreign text={first.problem} max={400} />
            </p>
          </div>
        </div>
      )}
      <dl class="facts">
        <Fact name="Records" value={records.toLocaleString('en')} />
        <Fact name="Arguments, replies and other parts" value={payloads.toLocaleString('en')} />
        <Fact name="Erased, as recorded" value={erased.toLocaleString('en')} />
        <Fact name="Epochs" value={epochs.toLocaleString('en')} />
        <Fact name="Took" value={`${(tookMs / 1_000).toFixed(1)} s`} />
        {head !== null && (
          <div>
            <dt>Head</dt>
            <dd>
              <span class="number">
                {head.epoch}.{head.seq}
              </span>{' '}
              <code class="hash">{hash}</code>
              <CopyButton text={`${head.epoch}.${head.seq} ${hash}`} what="the head" />
            </dd>
          </div>
        )}
      </dl>
      {problems.length > 1 && (
        <details>
          <summary>All {problems.length} problems</summary>
          <ol class="problems">
            {problems.map(({ epoch, seq, problem }, at) => (
              <li key={at}>
                <span class="number">
                  {epoch}.{seq}
                </span>{' '}
                <Foreign text={problem} max={400} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </Card>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}
