/** A call in, the ladder out: what would be decided, by the same gates and facts. Nothing runs and nothing is recorded. */
import { useState } from 'preact/hooks';
import type { Explanation } from '../../../../src/core/gates/explain.ts';
import { JsonField, readJson } from '../../parts/json-field.tsx';
import { ProblemNote } from '../../parts/notice.tsx';
import { type Answer, get, post, withQuery } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { Ladder } from './ladder.tsx';
import { NameField } from './name-field.tsx';

interface Status {
  readonly agents: readonly string[];
}

interface Tools {
  readonly tools: readonly { readonly name: string }[];
}

export function WhatIf() {
  const status = useResource((signal) => get<Status>('/v1/status', signal), []);
  const agents = status.state.value.value?.agents ?? [];
  const [said, setAgent] = useState('');
  const agent = said === '' ? (agents[0] ?? '') : said;
  const at = agent === '' ? null : withQuery('/v1/tools', { agent });
  const tools = useResource<Tools>(
    (signal) => (at === null ? Promise.resolve({ ok: true, value: { tools: [] } }) : get<Tools>(at, signal)),
    [at],
  );
  const names = tools.state.value.value?.tools.map(({ name }) => name) ?? [];
  const [tool, setTool] = useState('');
  const [args, setArgs] = useState('{}');
  const [session, setSession] = useState('');
  const [answer, setAnswer] = useState<Answer<Explanation> | null>(null);
  const [busy, setBusy] = useState(false);
  const read = readJson(args);
  const ask = async (event: Event) => {
    event.preventDefault();
    if (!read.ok) return;
    setBusy(true);
    const about = session.trim() === '' ? {} : { session: session.trim() };
    setAnswer(await post<Explanation>('/v1/evaluate', { agent, tool: tool.trim(), args: read.value, ...about }));
    setBusy(false);
  };
  return (
    <section class="card" aria-label="What if">
      <header class="card-head">
        <h2>What if?</h2>
        <span class="quiet">Nothing runs.</span>
      </header>
      <form class="card-body stack what-if" onSubmit={(event) => void ask(event)}>
        <NameField id="what-agent" label="Agent" value={agent} change={setAgent} known={agents} />
        <NameField id="what-tool" label="Tool" value={tool} change={setTool} known={names} />
        <JsonField label="Arguments" text={args} change={setArgs} read={read} rows={3} />
        <div class="field">
          <label for="what-session">Session, if any</label>
          <input id="what-session" value={session} onInput={(event) => setSession(event.currentTarget.value)} />
        </div>
        <div>
          <button type="submit" class="button button-main" disabled={busy || !read.ok}>
            {busy ? 'Asking…' : 'Ask'}
          </button>
        </div>
        {answer?.ok === false && <ProblemNote problem={answer.problem} />}
        {answer?.ok === true && <Ladder explained={answer.value} />}
      </form>
    </section>
  );
}
