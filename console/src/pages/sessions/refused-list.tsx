/** What was refused in a session, where, and how often. */
import type { RefusedEdge } from '../../../../src/core/workflow/trace/trace-path.ts';
import { Foreign } from '../../parts/foreign.tsx';

export function RefusedList({ refused }: { readonly refused: readonly RefusedEdge[] }) {
  return (
    <section class="card" aria-label="Refused">
      <header class="card-head">
        <h2>Refused</h2>
      </header>
      <div class="card-body">
        {refused.length === 0 ? (
          <p class="quiet">Nothing was refused in this session.</p>
        ) : (
          <table class="refused" aria-label="What was refused">
            <thead>
              <tr>
                <th scope="col">Action</th>
                <th scope="col">In state</th>
                <th scope="col">Why</th>
                <th scope="col">Times</th>
              </tr>
            </thead>
            <tbody>
              {refused.map(({ action, from, to, code, times }) => (
                <tr key={`${action} ${from} ${to} ${code}`}>
                  <td>
                    <Foreign text={action} code max={60} />
                  </td>
                  <td>
                    <Foreign text={from === '' ? 'any' : from} code max={60} />
                  </td>
                  <td>{code}</td>
                  <td class="number">{times}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
