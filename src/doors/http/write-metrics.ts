/**
 * Writes metrics in the Prometheus text format, version 0.0.4. The names are public and listed in docs/guides/http.md.
 */
import type { Measured } from './parts.ts';

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

export function writeMetrics(measured: Measured): string {
  return metricsOf(measured).map(write).join('');
}

function metricsOf({ calls, gaps, suppressed, upstreams, recovery, ...measured }: Measured): readonly Metric[] {
  const gauge = (name: string, help: string, value: number): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: [[{}, value]],
  });
  return [
    {
      name: 'recourse_calls_total',
      type: 'counter',
      help: 'Calls and steps that were answered, by outcome and code.',
      samples: calls.map(({ outcome, code, count }) => [{ outcome, code }, count]),
    },
    {
      name: 'recourse_refusals_total',
      type: 'counter',
      help: 'Those among them of which nothing ran, by code.',
      samples: calls.filter(({ refused }) => refused).map(({ code, outcome, count }) => [{ code, outcome }, count]),
    },
    {
      name: 'recourse_runtime_gaps_total',
      type: 'counter',
      help: 'What happened beside the calls that policy decides, by kind.',
      samples: gaps.map(({ kind, count }) => [{ kind }, count]),
    },
    {
      name: 'recourse_suppressed_errors_total',
      type: 'counter',
      help: 'Errors that were ignored on purpose, in calls and by the gateway itself.',
      samples: Object.entries(suppressed).map(([by, count]) => [{ by }, count]),
    },
    ...(measured.approvalsPending === null
      ? []
      : [gauge('recourse_approvals_pending', 'Approvals that wait for a person.', measured.approvalsPending)]),
    ...(measured.ticketsOpen === null
      ? []
      : [gauge('recourse_tickets_open', 'Tickets that wait for a person.', measured.ticketsOpen)]),
    gauge('recourse_calls_in_flight', 'Calls that are being sent.', measured.inFlight),
    gauge('recourse_ready', 'Whether calls are decided.', Number(measured.ready)),
    gauge('recourse_store_available', 'Whether the store takes commits.', Number(measured.storeAvailable)),
    gauge('recourse_uptime_seconds', 'Since the process began.', measured.uptimeSeconds),
    {
      name: 'recourse_upstream_up',
      type: 'gauge',
      help: 'Whether a server of tools is connected; its state in a word.',
      samples: upstreams.map(({ name, state }) => [{ upstream: name, state }, Number(state === 'connected')]),
    },
    ...recoveryMetrics(recovery),
  ];
}

function recoveryMetrics(recovery: Measured['recovery']): readonly Metric[] {
  return [
    {
      name: 'recourse_retries_total',
      type: 'counter',
      help: 'Attempts that were sent again after a failure, by upstream.',
      samples: recovery.map(({ upstream, retries }) => [{ upstream }, retries]),
    },
    {
      name: 'recourse_breaker_open',
      type: 'gauge',
      help: 'Whether nothing is sent to an upstream because it failed several times in a row; its state in a word.',
      samples: recovery.map(({ upstream, breaker }) => [{ upstream, state: breaker }, Number(breaker !== 'closed')]),
    },
    {
      name: 'recourse_retry_budget_tokens',
      type: 'gauge',
      help: 'Tokens left of the retry budget; nothing is retried at 5 or below.',
      samples: recovery.map(({ upstream, tokens }) => [{ upstream }, Math.round(tokens * 10) / 10]),
    },
  ];
}

function write({ name, type, help, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
