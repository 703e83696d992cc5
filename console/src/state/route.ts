/** Which page the address names: `#/page/id?name=value`. The one place that reads and writes the address. */
import { signal } from '@preact/signals';

export interface Route {
  /** The first word, `live` if there is none. */
  readonly page: string;
  /** The rest, decoded; empty if there is none. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
}

export const route = signal<Route>({ page: 'live', id: '', query: {} });

const linkMark = '#/signin/';
let foundCode: string | null = null;

export function startRouting(): void {
  const { hash } = location;
  if (hash.startsWith(linkMark)) {
    foundCode = hash.slice(linkMark.length);
    // INVARIANT: the code of a link leaves the address before anything else is done.
    history.replaceState(null, '', '/#/live');
  }
  addEventListener('hashchange', read);
  read();
}

/** The code that the address brought, once. */
export function takeCode(): string | null {
  const code = foundCode;
  foundCode = null;
  return code;
}

function read(): void {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/');
  if (`#/${page}/`.startsWith(linkMark)) {
    startAgain();
    return;
  }
  route.value = {
    page: page === '' ? 'live' : page,
    id: decoded(rest.join('/')),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** A link was opened in a tab that is open: it is read as at the start. */
function startAgain(): void {
  location.reload();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page, for `href`. */
export function linkTo(page: string, id = '', query: Readonly<Record<string, string | null>> = {}): string {
  const named = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== '');
  const search = new URLSearchParams(named).toString();
  return `#/${page}${id === '' ? '' : `/${encodeURIComponent(id)}`}${search === '' ? '' : `?${search}`}`;
}

export function go(page: string, id = '', query: Readonly<Record<string, string | null>> = {}): void {
  location.hash = linkTo(page, id, query);
}

/** Changes the query of the page that is shown, without a new entry in the history. */
export function changeQuery(change: Readonly<Record<string, string | null>>): void {
  const { page, id, query } = route.value;
  history.replaceState(null, '', linkTo(page, id, { ...query, ...change }));
  read();
}
