/** What operators and their machines ask: tools, policy, status, metrics, health, and the document that describes all of it. */
import { openapiDocument } from '../../core/openapi-paths.ts';
import { problemType } from '../../core/door-problems.ts';
import type { Readiness } from '../../core/facts.ts';
import { operatorTenant } from '../../core/identity.ts';
import { codes } from '../../core/taxonomy.ts';
import { type Answer, type Asked, json, refuse } from './answer.ts';
import { meantAgent } from './call-routes.ts';
import type { ApplyProblem } from './parts.ts';
import { metricsType, writeMetrics } from './write-metrics.ts';

export async function listTools({ query, who, parts }: Asked): Promise<Answer> {
  const agent = meantAgent('listTools', (query['agent'] ?? null) as string | null, { who, parts });
  if (typeof agent !== 'string') return agent;
  return json({ agent, tools: parts.tools({ tenant: who.tenant, agent }) });
}

export async function readPolicy({ parts }: Asked): Promise<Answer> {
  return json({ policy: parts.policy() });
}

/** The file is one for all tenants, so only those change it who run the gateway. */
export async function applyPolicy({ parts, who }: Asked): Promise<Answer> {
  if (who.tenant !== operatorTenant)
    return refuse('RoleForbidden', `policy is applied by an admin of the tenant '${operatorTenant}'`);
  const applied = await parts.applyPolicy(who);
  return applied.ok ? json({ ...applied.about, applied: true }) : notApplied(applied.problems);
}

function notApplied(problems: readonly ApplyProblem[]): Answer {
  const [first] = problems;
  const code = first?.code ?? 'ConfigSchemaViolation';
  const where = first === undefined ? '' : `${first.file}:${first.line}: ${first.message}; `;
  const detail = `${where}nothing was changed`;
  const common = { type: problemType(code), title: codes[code].title, status: 422, detail };
  const problem = { ...common, class: 'Validation', code, problems };
  return { kind: 'problem', problem };
}

export async function readStatus({ parts, who }: Asked): Promise<Answer> {
  return json(parts.status(who.tenant));
}

export async function readMetrics({ parts, who }: Asked): Promise<Answer> {
  return { kind: 'text', type: metricsType, text: writeMetrics(await parts.metrics(who.tenant)) };
}

let document: ReturnType<typeof openapiDocument> | null = null;

export async function readOpenapi(): Promise<Answer> {
  return json((document ??= openapiDocument()));
}

export async function readHealth({ readiness }: Asked): Promise<Answer> {
  return json(stateOf(readiness));
}

export async function readReadiness({ readiness }: Asked): Promise<Answer> {
  if (readiness.ready) return json(stateOf(readiness));
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(readiness.retryAfterSeconds))) };
  return { kind: 'json', status: 503, value: stateOf(readiness), headers };
}

const stateOf = (readiness: Readiness) => ({ status: readiness.ready ? 'ready' : readiness.doing });
