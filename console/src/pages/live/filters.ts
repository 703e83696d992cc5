/** The filters of Live: they stand in the address, so that a link shows the same. */
import type { LiveCall } from '../../state/live.ts';

export interface Filters {
  readonly agent: string;
  readonly tool: string;
  readonly state: string;
  readonly code: string;
  readonly session: string;
  readonly search: string;
}

export const noFilters: Filters = { agent: '', tool: '', state: '', code: '', session: '', search: '' };

export const filtersIn = (query: Readonly<Record<string, string>>): Filters => ({
  agent: query['agent'] ?? '',
  tool: query['tool'] ?? '',
  state: query['state'] ?? '',
  code: query['code'] ?? '',
  session: query['session'] ?? '',
  search: query['search'] ?? '',
});

export const hasFilters = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '');

export function filterCalls(calls: readonly LiveCall[], filters: Filters): readonly LiveCall[] {
  if (!hasFilters(filters)) return calls;
  const { agent, tool, state, code, session } = filters;
  const search = filters.search.trim().toLowerCase();
  return calls.filter(
    (call) =>
      (agent === '' || call.agent === agent) &&
      (tool === '' || call.tool === tool) &&
      (state === '' || call.state === state) &&
      (code === '' || call.code === code) &&
      (session === '' || call.session === session) &&
      (search === '' || textOf(call).includes(search)),
  );
}

const textOf = ({ id, agent, tool, code, session, state }: LiveCall): string =>
  `${id} ${agent} ${tool} ${code ?? ''} ${session ?? ''} ${state}`.toLowerCase();
