/**
 * Makes the tools of HTTP APIs: those that are written out, and those of OpenAPI documents, which are read here. Every
 * problem is reported at its place. Sends nothing.
 */
import path from 'node:path';
import { type DeclaredHttpTool, entriesOf, type HttpApi } from '../../adapters/upstream-http/http-api.ts';
import { planRequest, RequestPlanError } from '../../adapters/upstream-http/plan-request.ts';
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { ApiConfig, ApiRule, ApiTool, Config } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import { defaultLimits } from '../../core/limits.ts';
import { namesInTemplate } from '../../core/values/text-template.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { readText } from './read-project-files.ts';

const maxDocumentBytes = 64 << 20;

export interface LoadedApis {
  readonly apis: readonly HttpApi[];
  readonly declared: Catalogue;
  /** The documents, for whoever watches files. */
  readonly files: readonly string[];
}

export async function loadApis({ apis, runtime }: Config, cwd: string, tell: Tell): Promise<LoadedApis> {
  const loaded = await Promise.all(apis.map((api) => loadApi(api, cwd, tell)));
  const timeoutMs = runtime.limits.defaultTimeoutMs ?? defaultLimits.defaultTimeoutMs;
  // An address with a variable that is not set was reported before; there is nothing to serve then.
  const usable = loaded.filter(({ target }) => URL.parse(target.url) !== null);
  return {
    apis: usable,
    declared: new Map(usable.flatMap((api) => [...entriesOf(api, timeoutMs)])),
    files: apis.flatMap((api) => (api.openapi === null ? [] : [documentOf(api, api.openapi.file, cwd)])),
  };
}

async function loadApi(config: ApiConfig, cwd: string, tell: Tell): Promise<HttpApi> {
  const { name, url, headers, redirects, key, conflicts, limits, timeoutMs, names } = config;
  const written = config.tools.flatMap((tool) => writtenTool(tool, tell) ?? []);
  const { tools, leftOut } = await documentTools(config, new Set(written.map((tool) => tool.name)), cwd, tell);
  return {
    target: { name, url, headers, redirects, key, conflicts, limits },
    timeoutMs,
    ...(names === undefined ? {} : { names }),
    tools: [...written, ...tools],
    leftOut,
  };
}

/** Null if its request cannot work, which the reader of the file has reported. */
function writtenTool(tool: ApiTool, tell: Tell): DeclaredHttpTool | null {
  const { match, method, path: route, query, headers, body } = tool;
  try {
    const plan = planRequest({ method, path: route, query, headers, body });
    const input = tool.input ?? anyInput(route);
    const { description, output } = tool;
    return { name: match, description, path: route, plan, input, output, ...statedBy(tool) };
  } catch (error) {
    if (!(error instanceof RequestPlanError)) throw error;
    tell(tool.at, error.message, 'correct the request');
    return null;
  }
}

const statedBy = ({ effect, timeoutMs, dedupeWindowMs, reportsWithinMs, reach }: ApiRule) => ({
  effect,
  timeoutMs,
  dedupeWindowMs,
  reportsWithinMs,
  reach,
});

const unstated = { effect: null, timeoutMs: null, dedupeWindowMs: null, reportsWithinMs: null, reach: null };

/** Whatever is given, with what the path needs. */
function anyInput(route: string): JsonObject {
  const needed = [...new Set(namesInTemplate(route))];
  const properties = Object.fromEntries(needed.map((name) => [name, { type: ['string', 'number', 'boolean'] }]));
  return { type: 'object', properties, required: needed };
}

const documentOf = ({ at }: ApiConfig, file: string, cwd: string): string =>
  path.resolve(cwd, path.dirname(at.file), file);

type DocumentTools = Pick<HttpApi, 'tools' | 'leftOut'>;

async function documentTools(
  config: ApiConfig,
  taken: ReadonlySet<string>,
  cwd: string,
  tell: Tell,
): Promise<DocumentTools> {
  const none = { tools: [], leftOut: [] };
  const { openapi, rules } = config;
  if (openapi === null) return none;
  const { at, file, operations } = openapi;
  const text = await readText(documentOf(config, file, cwd), maxDocumentBytes);
  if (!text.ok) {
    tell(at, `the document '${file}': ${text.message}`, 'correct the path; it is read from the folder of this file');
    return none;
  }
  // Loaded only for a document: it brings the YAML of others.
  const { readOpenApi } = await import('../../adapters/upstream-http/openapi/read-openapi.ts');
  const isWanted = (name: string) => operations.length === 0 || operations.some((glob) => matchesGlob(glob, name));
  const read = readOpenApi(text.text, { isWanted, headers: Object.keys(config.headers) });
  if (!read.ok) {
    tell(at, `the document '${file}' cannot be used: ${read.problem}`, read.fix);
    return none;
  }
  const names = [...read.tools.map(({ name }) => name), ...read.refused.map(({ tool }) => tool)];
  for (const { match, at: place } of unmatched(rules, names))
    tell(
      place,
      `no operation of '${file}' is called '${match}'`,
      'name one as recourse pin lists it, or add a request',
    );
  for (const glob of operations.filter((each) => !names.some((name) => matchesGlob(each, name))))
    tell(at, `no operation of '${file}' is called '${glob}'`, 'correct operations');
  const tools = read.tools.filter(({ name }) => !taken.has(name));
  return {
    tools: tools.map((tool) => ({ ...tool, ...(ruleFor(rules, tool.name) ?? unstated) })),
    leftOut: read.refused,
  };
}

function ruleFor(rules: readonly ApiRule[], name: string) {
  const rule = rules.find(({ match }) => matchesGlob(match, name));
  return rule === undefined ? null : statedBy(rule);
}

const unmatched = (rules: readonly ApiRule[], names: readonly string[]): readonly ApiRule[] =>
  rules.filter(({ match }) => !names.some((name) => matchesGlob(match, name)));
