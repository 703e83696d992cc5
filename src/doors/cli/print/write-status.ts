/** Writes the status of a gateway, the most important first; audit mode gets a line of its own. */
import { isObject } from '../../../core/values/json.ts';
import { isList } from '../daemon.ts';
import { type Pair, writePairs } from './table.ts';
import { harmless, type Paint } from '../terminal.ts';

type Report = Readonly<Record<string, unknown>>;

const maxListed = 20;

export function writeStatus(report: Report, paint: Paint): string {
  const { url, ready, version, uptime_seconds: uptime } = report;
  const since = typeof uptime === 'number' ? `, up ${lengthOf(uptime)}` : '';
  const head =
    ready === true
      ? paint('green', `✓ ready at ${harmless(String(url))}`)
      : paint(
          'red',
          `✗ not ready at ${harmless(String(url))}: ${harmless(textOf(report['reason'] ?? report['doing'], 'no reason is given'))}`,
        );
  const governed = isObject(report['governed']) ? report['governed'] : null;
  const mode = textOf(governed?.['mode'] ?? report['mode'], 'enforce');
  const pairs = [
    ['mode', report['governed'] === null ? 'no policy: whoever has a key may call every tool' : mode],
    ['store', storeIn(report)],
    ...lines('servers', serversIn(report)),
    ...lines('models', modelsIn(report)),
    ...lines('recovery', recoveryIn(report)),
    ...lines('credentials', credentialsIn(report)),
    ...lines('extensions', extensionsIn(report)),
    ...lines('policy', policyIn(report, governed)),
    ['calls', callsIn(report)],
    ...lines('budgets', budgetsIn(report)),
    ...lines('gaps', gapsIn(report)),
    ...lines('gates', gatesIn(report)),
    ...lines('forced', placesIn(report['forced'])),
    ...lines('drift', Array.isArray(report['drift']) ? report['drift'].map(String) : []),
    ...lines('warnings', placesIn(report['warnings'])),
  ] as const;
  const loud =
    mode === 'audit' && report['governed'] !== null
      ? `${paint('red', '! AUDIT MODE: what policy denies is NOT stopped, it only goes on record')}\n`
      : '';
  return `${head}, version ${harmless(textOf(version, 'unknown'))}${since}\n${loud}${writePairs(pairs, paint)}`;
}

/** One name with several lines. */
const lines = (name: string, found: readonly string[]): readonly Pair[] =>
  found.length === 0 ? [] : [[name, clip(found)]];

const clip = (found: readonly string[]): readonly string[] =>
  found.length <= maxListed ? found : [...found.slice(0, maxListed), `… and ${found.length - maxListed} more`];

function storeIn({ store, role }: Report): string {
  return `${textOf(store, 'unknown')}${typeof role === 'string' ? `, as its ${role}` : ''}`;
}

function serversIn({ upstreams }: Report): readonly string[] {
  if (!isList(upstreams)) return [];
  if (upstreams.length === 0) return ['none'];
  return upstreams.map(({ name, state, tools, problem }) => {
    const listed = typeof tools === 'number' ? `, ${tools} tool${tools === 1 ? '' : 's'}` : '';
    return `${textOf(name, '?')}: ${textOf(state, '?')}${listed}${typeof problem === 'string' ? ` (${problem})` : ''}`;
  });
}

function modelsIn({ models }: Report): readonly string[] {
  if (!isList(models)) return [];
  return models.map(({ name, kind, state, problem, models: known, used }) => {
    const why = typeof problem === 'string' ? ` (${problem})` : '';
    const count =
      Array.isArray(known) && known.length > 0 ? `, ${known.length} model${known.length === 1 ? '' : 's'}` : '';
    return `${textOf(name, '?')}: ${textOf(kind, '?')}, ${textOf(state, '?').replaceAll('_', ' ')}${why}${count}${usedIn(used)}`;
  });
}

function usedIn(used: unknown): string {
  if (!isObject(used) || used['calls'] === 0) return ', not used yet';
  const { calls, input_tokens: input, output_tokens: output, cost } = used as Report;
  const spent = typeof cost === 'string' ? `, ${cost}` : '';
  return `, ${textOf(calls, '?')} call${calls === 1 ? '' : 's'}, ${textOf(input, '?')} + ${textOf(output, '?')} tokens${spent}`;
}

/** Upstreams that had failures. */
function recoveryIn({ recovery }: Report): readonly string[] {
  if (!isList(recovery)) return [];
  return recovery
    .filter(({ breaker, retries }) => breaker !== 'closed' || (typeof retries === 'number' && retries > 0))
    .map(
      ({ upstream, breaker, retries }) =>
        `${textOf(upstream, '?')}: breaker ${textOf(breaker, '?')}, ${String(retries)} retries`,
    );
}

function credentialsIn({ credentials }: Report): readonly string[] {
  if (!isList(credentials)) return [];
  return credentials.map(({ name, provider, state, since, reason, expires_at: expires }) => {
    const ends = typeof expires === 'string' ? `, expires ${expires}` : '';
    const why = typeof reason === 'string' ? ` (${reason})` : '';
    const word = state === 'not_fetched' ? 'not fetched' : textOf(state, '?');
    return `${textOf(name, '?')}: ${textOf(provider, '?')}, ${word} since ${textOf(since, '?')}${why}${ends}`;
  });
}

function extensionsIn({ extensions }: Report): readonly string[] {
  if (!isList(extensions)) return [];
  return extensions.map(({ name, contract, state, code, problem, adds }) => {
    const version = typeof contract === 'number' ? `, contract ${contract}` : '';
    const added = Array.isArray(adds) && adds.length > 0 ? `, adds ${adds.map(String).join(', ')}` : '';
    const why = typeof problem === 'string' ? ` (${textOf(code, '?')}: ${problem})` : '';
    return `${textOf(name, '?')}: ${textOf(state, '?')}${version}${added}${why}`;
  });
}

function policyIn({ policy: hash }: Report, governed: Report | null): readonly string[] {
  const agents = governed?.['agents'];
  if (!isList(agents)) return [];
  return [
    ...(typeof hash === 'string' ? [`sha256 ${hash}`] : []),
    ...(agents.length === 0 ? ['no agent is declared: every call is denied'] : []),
    ...agents.map(({ agent, rules, default: otherwise }) => {
      return `${textOf(agent, '?')}: ${String(rules)} rule${rules === 1 ? '' : 's'}, default ${textOf(otherwise, 'deny')}`;
    }),
  ];
}

function callsIn({ in_flight: now, in_doubt: doubt }: Report): string {
  const count = typeof doubt !== 'number' ? 'an unknown number' : doubt >= 200 ? '200 or more' : String(doubt);
  const look = doubt === 0 ? '' : ': recourse calls ls --state IN_DOUBT';
  return `${textOf(now, '?')} under way, ${count} in doubt${look}`;
}

/** Nothing without budgets. Those that count by session are not among them. */
function budgetsIn({ budgets }: Report): readonly string[] {
  if (!isObject(budgets) || budgets['all'] === 0) return [];
  const { all, warned, used_up: usedUp } = budgets;
  const look = warned === 0 && usedUp === 0 ? '' : ': recourse budgets';
  return [
    `${textOf(all, '?')}, ${textOf(warned, '?')} at or beyond their warning, ${textOf(usedUp, '?')} used up${look}`,
  ];
}

function gatesIn({ gates }: Report): readonly string[] {
  if (!isList(gates)) return [];
  const named = (stands: boolean) =>
    gates
      .flatMap(({ gate, configured }) => (configured === stands && typeof gate === 'string' ? [gate] : []))
      .join(', ');
  return [named(true), ...(named(false) === '' ? [] : [`absent: ${named(false)}`])];
}

/** Messages that policy could not decide. */
function gapsIn({ gaps }: Report): readonly string[] {
  if (!isList(gaps)) return [];
  return gaps.map(({ kind, count }) => `${textOf(kind, '?')}: ${textOf(count, '?')}`);
}

function placesIn(told: unknown): readonly string[] {
  if (!Array.isArray(told)) return [];
  return told.map((each) => {
    if (!isObject(each)) return String(each);
    return `${textOf(each['file'], '')}:${textOf(each['line'], '')} ${textOf(each['message'], '')}`;
  });
}

const textOf = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;

function lengthOf(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
