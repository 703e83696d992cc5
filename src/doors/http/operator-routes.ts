/** Routes for operators and monitoring: tools, policy, status, metrics, health, readiness, and the OpenAPI document. */
import { openapiDocument } from '../../core/http/openapi-paths.ts';
import { problemType } from '../../core/http/door-problems.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import { operatorTenant } from '../../core/call/identity.ts';
import { policyView } from '../../core/policy/policy-view.ts';
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
  const policy = parts.policy();
  return json({ policy: policy === null ? null : policyView(policy) });
}

/** All tenants share one file, so only admins of the operator's tenant may apply it. */
export async function applyPolicy({ body, parts, who }: Asked): Promise<Answer> {
  if (who.tenant !== operatorTenant)
    return refuse('RoleForbidden', `policy is applied by an admin of the tenant '${operatorTenant}'`);
  const { force = false } = (body ?? {}) as { readonly force?: boolean };
  const applied = await parts.applyPolicy(who, force);
  return applied.ok ? json({ ...applied.about, applied: true }) : notApplied(applied.problems, applied.forcible);
}

function notApplied(problems: readonly ApplyProblem[], forcible: boolean): Answer {
  const [first] = problems;
  const code = first?.code ?? 'ConfigSchemaViolation';
  const where = first === undefined ? '' : `${first.file}:${first.line}: ${first.message}; `;
  const anyway = forcible ? '; with force it is applied nevertheless, on record' : '';
  const detail = `${where}nothing was changed${anyway}`;
  const common = { type: problemType(code), title: codes[code].title, status: 422, detail };
  const problem = { ...common, class: codes[code].class, code, problems, forcible };
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

/** INVARIANT: ready only while a call could run; one that cannot be recorded cannot. */
export async function readReadiness({ readiness, parts }: Asked): Promise<Answer> {
  if (!readiness.ready) return notYet(stateOf(readiness), readiness.retryAfterSeconds);
  return parts.canRecord() ? json(stateOf(readiness)) : notYet({ status: 'store_unavailable' }, storeAwaySeconds);
}

const storeAwaySeconds = 6;

const notYet = (value: object, seconds: number): Answer => ({
  kind: 'json',
  status: 503,
  value,
  headers: { 'retry-after': String(Math.max(1, Math.ceil(seconds))) },
});

const stateOf = (readiness: Readiness) => ({ status: readiness.ready ? 'ready' : readiness.doing });
