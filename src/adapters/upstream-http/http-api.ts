/**
 * The tools of one HTTP API: what is declared about each, its entry in the catalogue, and how it is sent. Schemas are
 * compiled when a tool is first called: an API may have a thousand of them.
 */
import type { FieldError, ToolEntry } from '../../core/call/catalogue.ts';
import { type Reach, reachOf } from '../../core/policy/policy.ts';
import { destinationOf } from '../../core/egress/destination.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { HttpTarget, HttpTool } from './http-config.ts';
import { isSafeMethod, type RequestPlan } from './plan-request.ts';

export interface DeclaredHttpTool {
  /** Its own name, without that of the API. */
  readonly name: string;
  readonly description: string;
  /** As it is written, for the manifest. */
  readonly path: string;
  readonly plan: RequestPlan;
  readonly input: JsonObject;
  readonly output: JsonObject | null;
  /** Null: by its method. */
  readonly effect: EffectClass | null;
  readonly timeoutMs: number | null;
  readonly dedupeWindowMs: number | null;
  readonly reportsWithinMs: number | null;
  readonly reach: Reach | null;
}

export interface HttpApi {
  readonly target: HttpTarget;
  readonly timeoutMs: number | null;
  readonly names?: 'bare';
  readonly tools: readonly DeclaredHttpTool[];
  /** Operations that are no tools, with the reason. */
  readonly leftOut: readonly { readonly tool: string; readonly reason: string }[];
}

/** A method that changes nothing makes a read; the file may say otherwise. */
export const effectOfMethod = (method: string): EffectClass => (isSafeMethod(method) ? 'pure' : 'plain');

export function entriesOf(api: HttpApi, defaultTimeoutMs: number): ReadonlyMap<string, ToolEntry> {
  const entries = api.tools.map((tool) => entryOf(api, tool, defaultTimeoutMs));
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function entryOf({ target, timeoutMs: common }: HttpApi, tool: DeclaredHttpTool, defaultTimeoutMs: number): ToolEntry {
  const { description, input, output, reportsWithinMs, path, plan } = tool;
  const name = `${target.name}/${tool.name}`;
  const effectClass = tool.effect ?? effectOfMethod(plan.method);
  const timeoutMs = tool.timeoutMs ?? common ?? defaultTimeoutMs;
  const dedupeWindowMs = effectClass === 'keyed' ? tool.dedupeWindowMs : null;
  const declared = {
    name: tool.name,
    description,
    method: plan.method,
    path,
    inputSchema: input,
    outputSchema: output,
  };
  return {
    name,
    description,
    effectClass,
    timeoutMs,
    dedupeWindowMs,
    reportsWithinMs,
    input: { kind: 'schema', check: checkLazily(input) },
    invokes: name,
    inputSchema: input,
    listing: null,
    policyName: name,
    reach: tool.reach ?? reachOf(effectClass),
    ...(destinationOf(target.url) ?? { host: null }),
    manifest: canonicalText({
      name,
      effect: effectClass,
      timeout_ms: timeoutMs,
      dedupe_window_ms: dedupeWindowMs,
      ...(reportsWithinMs === null ? {} : { reports_within_ms: reportsWithinMs }),
      tool: declared,
    }),
  };
}

export function toolsOf({ target, tools }: HttpApi): ReadonlyMap<string, HttpTool> {
  return new Map(
    tools.map(({ name, plan, effect, output }) => {
      const full = `${target.name}/${name}`;
      const effectClass = effect ?? effectOfMethod(plan.method);
      const checkOutput = output === null ? null : checkLazily(output);
      return [full, { name: full, effectClass, plan, checkOutput }];
    }),
  );
}

/** A schema that cannot be compiled refuses every value, and says why. */
function checkLazily(schema: JsonObject): (value: Json) => readonly FieldError[] {
  let check: ((value: Json) => readonly FieldError[]) | null = null;
  return (value) => {
    if (check === null) {
      const compiled = compileSchema(schema);
      const says = compiled.ok ? '' : `judged by a schema that works; this one does not: ${compiled.problem}`;
      check = compiled.ok ? compiled.check : () => [{ path: '', expected: says, got: null }];
    }
    return check(value);
  };
}
