/** One row for each tool: effect class, how its last calls ended as a bar with numbers, times, verdicts, drift. */
import type { ToolLook } from '../../../../src/core/http/look/call-look.ts';
import { effectClasses } from '../../../../src/core/taxonomy.ts';
import { Badge } from '../../parts/badge.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Age } from '../../parts/time.tsx';
import { linkTo } from '../../state/route.ts';
import { lengthOf } from '../../state/time.ts';

export function ToolTable({ tools }: { readonly tools: readonly ToolLook[] }) {
  return (
    <div class="wide">
      <table class="table tool-table">
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Effect class</th>
            <th scope="col">Outcomes</th>
            <th scope="col" class="right">
              Calls
            </th>
            <th scope="col" class="right">
              Half within
            </th>
            <th scope="col" class="right">
              95 % within
            </th>
            <th scope="col">Verdicts of failures</th>
            <th scope="col">Last call</th>
          </tr>
        </thead>
        <tbody>
          {tools.map((tool) => (
            <ToolRow key={tool.tool} tool={tool} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ToolRow({ tool }: { readonly tool: ToolLook }) {
  return (
    <tr>
      <th scope="row">
        <a href={linkTo('live', '', { tool: tool.tool })} title={tool.description === '' ? undefined : 'its calls'}>
          <Foreign text={tool.tool} max={80} />
        </a>{' '}
        {!tool.served && <Badge tone="quiet">not served now</Badge>}
        {tool.drift !== null && <Badge tone="held">drift</Badge>}
        {tool.description !== '' && (
          <div class="quiet tool-says">
            <Foreign text={tool.description} max={120} />
          </div>
        )}
        {tool.drift !== null && (
          <div class="tool-says">
            <Foreign text={tool.drift} max={200} />
          </div>
        )}
      </th>
      <td title={effectClasses[tool.effect].meaning}>{tool.effect}</td>
      <td>
        <Mix tool={tool} />
      </td>
      <td class="number right">{tool.calls}</td>
      <td class="number right">{tool.p50_ms === null ? '–' : lengthOf(tool.p50_ms)}</td>
      <td class="number right">{tool.p95_ms === null ? '–' : lengthOf(tool.p95_ms)}</td>
      <td>
        {tool.verdicts.map(({ verdict, count }) => (
          <span key={verdict} class="verdict">
            <code>{verdict}</code> <span class="number quiet">× {count}</span>
          </span>
        ))}
      </td>
      <td class="quiet">{tool.last_at === null ? 'never' : <Age at={tool.last_at} />}</td>
    </tr>
  );
}

const parts = [
  ['succeeded', 'succeeded', 'good'],
  ['refused', 'refused', 'bad'],
  ['failed', 'failed', 'failed'],
  ['in_doubt', 'in doubt', 'doubt'],
  ['waiting', 'waiting', 'held'],
] as const;

function Mix({ tool }: { readonly tool: ToolLook }) {
  if (tool.calls === 0) return <span class="quiet">–</span>;
  const there = parts.filter(([name]) => tool[name] > 0);
  return (
    <div class="mix">
      <div class="mix-bar" aria-hidden="true">
        {there.map(([name, , tone]) => (
          <span key={name} class={`mix-part mix-${tone}`} style={{ width: `${(tool[name] / tool.calls) * 100}%` }} />
        ))}
      </div>
      <span class="mix-words">{there.map(([name, word]) => `${tool[name]} ${word}`).join(', ')}</span>
    </div>
  );
}
