/** The tools of servers of kinds that extensions add: read from what their authors declare, as entries of the catalogue. */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { HostedConfig, ToolRule } from '../../config/config.ts';
import type { FieldError, ToolEntry } from '../../core/call/catalogue.ts';
import { type Destination, destinationOf } from '../../core/egress/destination.ts';
import { extensionLimits } from '../../core/extension/extension-limits.ts';
import { reachOf, reaches } from '../../core/policy/policy.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { effectClasses } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { ToolDeclaration, UpstreamKind } from '../../extension/kinds.ts';

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
    if (names.has(each.name)) return { ok: false, problem: `the kind '${hosted.kind}' declares '${each.name}' twice` };
    names.add(each.name);
    tools.push(toolOf(hosted, each, defaultTimeoutMs));
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

/** What each field must be, after the name. */
const fieldRules: readonly (readonly [says: string, isRight: (tool: Readonly<Record<string, unknown>>) => boolean])[] =
  [
    ['without a description', ({ description }) => typeof description === 'string'],
    [
      `without an effect (${Object.keys(effectClasses).join(', ')})`,
      ({ effect }) => typeof effect === 'string' && Object.hasOwn(effectClasses, effect),
    ],
    [
      'keyed, without dedupe_window_seconds',
      ({ effect, dedupe_window_seconds: seconds }) => effect !== 'keyed' || isSeconds(seconds),
    ],
    ['with a timeout that is none', ({ timeout_seconds: seconds }) => seconds === undefined || isSeconds(seconds)],
    ['with a reach that is none', ({ reach }) => reach === undefined || reaches.some((each) => each === reach)],
    [
      'with a url that is none',
      ({ url }) => url === undefined || (typeof url === 'string' && destinationOf(url) !== null),
    ],
    ['with an input that is no usable JSON Schema', ({ input }) => isSchema(input)],
    ['with an output that is no usable JSON Schema', ({ output }) => output === undefined || isSchema(output)],
  ];

const isSchema = (schema: unknown): boolean => isObject(schema) && compileSchema(schema).ok;

function wrongWith(tool: unknown): string | null {
  if (!isObject(tool)) return 'declares a tool that is none';
  const { name } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_.-]{1,128}$/.test(name))
    return 'declares a tool whose name is not 1 to 128 letters, digits, _ - or .';
  const wrong = fieldRules.find(([, isRight]) => !isRight(tool));
  return wrong === undefined ? null : `declares '${name}' ${wrong[0]}`;
}

const isSeconds = (value: unknown): boolean => typeof value === 'number' && value > 0 && Number.isFinite(value);
const ms = (seconds: number | undefined): number | null => (seconds === undefined ? null : seconds * 1_000);

function toolOf(hosted: Hosted, declared: ToolDeclaration, defaultTimeoutMs: number): HostedTool {
  const { name: own, description, input, output, url } = declared;
  const name = `${hosted.name}/${own}`;
  const said = statedFor(hosted, declared, defaultTimeoutMs);
  const to = url === undefined ? null : destinationOf(url);
  const entry: ToolEntry = {
    name,
    description,
    ...said,
    input: { kind: 'schema', check: checkBy(input) },
    invokes: name,
    inputSchema: input,
    listing: null,
    policyName: name,
    ...(to ?? { host: null }),
    manifest: canonicalText({
      name,
      effect: said.effectClass,
      timeout_ms: said.timeoutMs,
      dedupe_window_ms: said.dedupeWindowMs,
      ...(said.reportsWithinMs === null ? {} : { reports_within_ms: said.reportsWithinMs }),
      tool: { name: own, description, kind: hosted.kind, inputSchema: input, outputSchema: output ?? null },
    }),
  };
  return { entry, own, to, checkOutput: output === undefined ? null : checkBy(output) };
}

/** What the file says of a tool comes before what its author says. */
function statedFor(hosted: Hosted, declared: ToolDeclaration, defaultTimeoutMs: number) {
  const rule = hosted.rules.find(({ match }) => matchesGlob(match, declared.name));
  const effectClass = rule?.effect ?? declared.effect;
  const windowMs = rule?.dedupeWindowMs ?? ms(declared.dedupe_window_seconds);
  return {
    effectClass,
    timeoutMs: rule?.timeoutMs ?? hosted.timeoutMs ?? ms(declared.timeout_seconds) ?? defaultTimeoutMs,
    dedupeWindowMs: effectClass === 'keyed' ? windowMs : null,
    reportsWithinMs: rule?.reportsWithinMs ?? null,
    reach: rule?.reach ?? declared.reach ?? reachOf(effectClass),
  };
}

function checkBy(schema: JsonObject): (value: Json) => readonly FieldError[] {
  const compiled = compileSchema(schema);
  invariant(compiled.ok, 'a schema was usable when it was read');
  return compiled.check;
}
