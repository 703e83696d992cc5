/** The tools of servers of kinds that extensions add: read from what their authors declare, as entries of the catalogue. */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { HostedConfig, ToolRule } from '../../config/config.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { type Destination, destinationOf } from '../../core/egress/destination.ts';
import { extensionLimits } from '../../core/extension/extension-limits.ts';
import { reachOf, reaches } from '../../core/policy/policy.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { effectClasses } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { ToolDeclaration, UpstreamKind } from '../../extension/kinds.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import type { Json } from '../../core/values/json.ts';

/** A server without its places: of a file, or of a program. */
export type Hosted = Pick<HostedConfig, 'name' | 'kind' | 'settings' | 'timeoutMs' | 'names'> & {
  readonly rules: readonly ToolRule[];
};

export interface HostedTool {
  readonly entry: ToolEntry;
  /** As its author calls it. */
  readonly own: string;
  readonly to: Destination | null;
  readonly checkOutput: ((value: Json) => readonly FieldError[]) | null;
}

export type HostedTools =
  | { readonly ok: true; readonly tools: readonly HostedTool[] }
  | { readonly ok: false; readonly problem: string };

export function toolsOfHosted(hosted: Hosted, kind: UpstreamKind, defaultTimeoutMs: number): HostedTools {
  const declared = declaredTools(kind, hosted.settings);
  if (typeof declared === 'string') return { ok: false, problem: `the kind '${hosted.kind}' ${declared}` };
  const tools: HostedTool[] = [];
  const names = new Set<string>();
  for (const each of declared) {
    const made = names.has(each.name) ? `declares '${each.name}' twice` : toolOf(hosted, each, defaultTimeoutMs);
    if (typeof made === 'string') return { ok: false, problem: `the kind '${hosted.kind}' ${made}` };
    names.add(each.name);
    tools.push(made);
  }
  return { ok: true, tools };
}

/** A text says what is wrong. */
function declaredTools({ tools }: UpstreamKind, settings: JsonObject): readonly ToolDeclaration[] | string {
  try {
    const declared: unknown = typeof tools === 'function' ? tools(settings) : tools;
    if (!Array.isArray(declared)) return 'gives no list of tools';
    if (declared.length > extensionLimits.maxTools) return `has more than ${extensionLimits.maxTools} tools`;
    const wrong = declared.map(wrongWith).find((each) => each !== null);
    return wrong ?? (declared as readonly ToolDeclaration[]);
  } catch {
    return 'throws when it is asked for its tools';
  }
}

function wrongWith(tool: unknown): string | null {
  if (!isObject(tool)) return 'declares a tool that is none';
  const { name, description, input, output, effect, reach, url } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_.-]{1,128}$/.test(name))
    return 'declares a tool whose name is not 1 to 128 letters, digits, _ - or .';
  const says = (what: string) => `declares '${name}' ${what}`;
  if (typeof description !== 'string') return says('without a description');
  if (typeof effect !== 'string' || !Object.hasOwn(effectClasses, effect))
    return says(`without an effect (${Object.keys(effectClasses).join(', ')})`);
  if (effect === 'keyed' && !isSeconds(tool['dedupe_window_seconds']))
    return says('keyed, without dedupe_window_seconds');
  if (tool['timeout_seconds'] !== undefined && !isSeconds(tool['timeout_seconds']))
    return says('with a timeout that is none');
  if (reach !== undefined && !reaches.some((each) => each === reach)) return says('with a reach that is none');
  if (url !== undefined && (typeof url !== 'string' || destinationOf(url) === null))
    return says('with a url that is none');
  for (const [key, schema] of [
    ['input', input],
    ['output', output ?? {}],
  ] as const) {
    const compiled = isObject(schema) ? compileSchema(schema) : { ok: false, problem: 'it is no object' };
    if (!compiled.ok) return says(`with an ${key} that is no usable JSON Schema`);
  }
  return null;
}

const isSeconds = (value: unknown): boolean => typeof value === 'number' && value > 0 && Number.isFinite(value);
const ms = (seconds: number | undefined): number | null => (seconds === undefined ? null : seconds * 1_000);

function toolOf(hosted: Hosted, declared: ToolDeclaration, defaultTimeoutMs: number): HostedTool | string {
  const { name: own, description, input, output, url } = declared;
  const name = `${hosted.name}/${own}`;
  const rule = hosted.rules.find(({ match }) => matchesGlob(match, own));
  const effectClass = rule?.effect ?? declared.effect;
  const timeoutMs = rule?.timeoutMs ?? hosted.timeoutMs ?? ms(declared.timeout_seconds) ?? defaultTimeoutMs;
  const dedupeWindowMs = effectClass === 'keyed' ? (rule?.dedupeWindowMs ?? ms(declared.dedupe_window_seconds)) : null;
  const reportsWithinMs = rule?.reportsWithinMs ?? null;
  const [judged, checked] = [compileSchema(input), output === undefined ? null : compileSchema(output)];
  if (!judged.ok) return `declares '${own}' with an input that is no usable JSON Schema`;
  const to = url === undefined ? null : destinationOf(url);
  const entry: ToolEntry = {
    name,
    description,
    effectClass,
    timeoutMs,
    dedupeWindowMs,
    reportsWithinMs,
    input: { kind: 'schema', check: judged.check },
    invokes: name,
    inputSchema: input,
    listing: null,
    policyName: name,
    reach: rule?.reach ?? declared.reach ?? reachOf(effectClass),
    ...(to ?? { host: null }),
    manifest: canonicalText({
      name,
      effect: effectClass,
      timeout_ms: timeoutMs,
      dedupe_window_ms: dedupeWindowMs,
      ...(reportsWithinMs === null ? {} : { reports_within_ms: reportsWithinMs }),
      tool: { name: own, description, kind: hosted.kind, inputSchema: input, outputSchema: output ?? null },
    }),
  };
  return { entry, own, to, checkOutput: checked?.ok === true ? checked.check : null };
}
