/** Tools and the servers behind them: health, breaker, latency, how calls ended, effect class, drift from the lock. */
import { useState } from 'preact/hooks';
import type { ToolHealthLook } from '../../../../src/core/http/look/call-look.ts';
import { Empty } from '../../parts/notice.tsx';
import { Load } from '../../parts/load.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { Servers, type Status } from './servers.tsx';
import { ToolTable } from './tool-table.tsx';
import './tools.css';

const lookEveryMs = 5_000;

export function ToolsPage() {
  const status = useResource<Status>((signal) => get('/v1/status', signal), [], lookEveryMs);
  const health = useResource<ToolHealthLook>((signal) => get('/v1/tools/health', signal), [], lookEveryMs);
  const [search, setSearch] = useState('');
  return (
    <>
      <PageHead title="Tools" says="What agents may call, what stands behind it, and how its last calls ended." />
      <div class="stack">
        <Load of={status}>{(found) => <Servers status={found} />}</Load>
        <Load of={health}>
          {({ tools, calls, complete }) =>
            tools.length === 0 ? (
              <Empty icon="tools" title="No tools are served">
                Add a server under <code>tools</code> in recourse.yaml; <code>recourse init</code> writes a first one.
              </Empty>
            ) : (
              <section class="card" aria-label="Tools">
                <div class="card-head">
                  <h2>
                    {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
                  </h2>
                  <div class="row">
                    <span class="quiet number">
                      from {complete ? 'all' : 'the last'} {calls.toLocaleString('en')} calls
                    </span>
                    <label class="only-heard" for="tool-search">
                      Search tools
                    </label>
                    <input
                      id="tool-search"
                      type="search"
                      placeholder="Search tools"
                      value={search}
                      onInput={(event) => setSearch(event.currentTarget.value)}
                    />
                  </div>
                </div>
                <ToolTable tools={tools.filter(({ tool }) => tool.toLowerCase().includes(search.toLowerCase()))} />
              </section>
            )
          }
        </Load>
      </div>
    </>
  );
}
