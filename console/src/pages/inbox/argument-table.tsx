/** Arguments as a table, a value a row; with what the last such call had, if there was one. */
import type { Json } from '../../../../src/core/values/json.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { maxRows, rowsOf } from './flatten.ts';

interface ArgumentTableProps {
  readonly args: Json;
  /** Left out if there is nothing to compare with. */
  readonly before?: Json;
  readonly label: string;
}

const words = { same: '', changed: 'changed', new: 'new', gone: 'gone' } as const;

export function ArgumentTable({ args, before, label }: ArgumentTableProps) {
  const { rows, complete } = rowsOf(args, before);
  const compares = before !== undefined;
  if (rows.length === 1 && rows[0]?.path === '' && rows[0].now === '{}')
    return <p class="quiet">It is called without arguments.</p>;
  return (
    <div class="table-scroll">
      <table class="arguments" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Argument</th>
            <th scope="col">{compares ? 'Now' : 'Value'}</th>
            {compares && <th scope="col">Last time</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, now, before: was, change }) => (
            <tr key={path} class={`change-${change}`}>
              <th scope="row">
                <Foreign text={path === '' ? 'the whole' : path} code />
              </th>
              <td>
                {now === null ? <span class="quiet">not given</span> : <Foreign text={now} code max={300} />}
                {change !== 'same' && <span class="change">{words[change]}</span>}
              </td>
              {compares && (
                <td>{was === null ? <span class="quiet">not given</span> : <Foreign text={was} code max={300} />}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {!complete && <p class="quiet">Only the first {maxRows} values are shown; the call page has all.</p>}
    </div>
  );
}
