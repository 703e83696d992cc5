/** The row of filters above the list. */
import { callStates, type CallState } from '../../../../src/core/taxonomy.ts';
import { spellOut } from '../../../../src/core/values/quote.ts';
import type { Seen } from '../../state/live.ts';
import { changeQuery } from '../../state/route.ts';
import { type Filters, hasFilters, noFilters } from './filters.ts';

interface LiveFiltersProps {
  readonly filters: Filters;
  readonly seen: Seen;
  /** How many calls fit. */
  readonly found: number;
}

export function LiveFilters({ filters, seen, found }: LiveFiltersProps) {
  const set = (name: keyof Filters) => (value: string) => changeQuery({ [name]: value === '' ? null : value });
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <div class="field filter-search">
        <label for="live-search">Search</label>
        <input
          id="live-search"
          type="search"
          value={filters.search}
          placeholder="id, tool, agent, code"
          onInput={(event) => set('search')(event.currentTarget.value)}
        />
      </div>
      <Choice name="Outcome" value={filters.state} of={seen.state} set={set('state')} />
      <Choice name="Code" value={filters.code} of={seen.code} set={set('code')} />
      <Choice name="Agent" value={filters.agent} of={seen.agent} set={set('agent')} />
      <Choice name="Tool" value={filters.tool} of={seen.tool} set={set('tool')} />
      <Choice name="Session" value={filters.session} of={seen.session} set={set('session')} />
      <div class="filter-end">
        <span class="quiet number" role="status">
          {found.toLocaleString('en')} {found === 1 ? 'call' : 'calls'}
        </span>
        {hasFilters(filters) && (
          <button type="button" class="link-button" onClick={() => changeQuery({ ...noFilters })}>
            clear
          </button>
        )}
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly set: (value: string) => void;
}

/** Names of others are spelled out: an option holds text alone. */
function Choice({ name, value, of, set }: ChoiceProps) {
  const id = `filter-${name}`;
  const all = value === '' || of.includes(value) ? of : [value, ...of];
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">all</option>
        {all.map((each) => (
          <option key={each} value={each}>
            {each in callStates ? callStates[each as CallState].title : spellOut(each).slice(0, 60)}
          </option>
        ))}
      </select>
    </div>
  );
}
