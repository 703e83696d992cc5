/**
 * Puts the validators of extensions before tools: the schema judges the arguments first, then the validator, and what
 * it gives instead is judged by the schema again.
 */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { Config, ToolRule } from '../../config/config.ts';
import type { InputRule, ToolEntry } from '../../core/call/catalogue.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { ValidatorFunction } from '../../extension/kinds.ts';
import type { Validated, Validator } from '../../ports/validator.ts';
import { addedBy } from './extension-set.ts';
import { guardValidator } from './guard-kinds.ts';
import type { Running } from './start-extensions.ts';

/** The name of a tool's validator; null if it has none. */
export type ValidatorOf = (tool: string) => string | null;

interface WithRules {
  readonly name: string;
  readonly rules: readonly Pick<ToolRule, 'match' | 'validate'>[];
}

/** Of a configuration: the first rule of a server that fits a tool counts. */
export function validatorsIn({ tools, apis, hosted }: Pick<Config, 'tools' | 'apis' | 'hosted'>): ValidatorOf {
  const servers: readonly WithRules[] = [
    ...tools,
    ...apis.map((api) => ({ name: api.name, rules: [...api.tools, ...api.rules] })),
    ...hosted,
  ];
  if (!servers.some(({ rules }) => rules.some(({ validate }) => validate !== undefined))) return () => null;
  return (tool) => {
    const server = servers.find(({ name }) => tool.startsWith(`${name}/`));
    const own = tool.slice((server?.name.length ?? 0) + 1);
    return server?.rules.find(({ match }) => matchesGlob(match, own))?.validate ?? null;
  };
}

export interface ToolValidation {
  /** The same entry gives the same object. */
  complete(tool: ToolEntry): ToolEntry;
  validate(next: Validator['validate']): Validator['validate'];
}

export function validateTools(validatorOf: ValidatorOf, running: Running): ToolValidation {
  const known = new WeakMap<ToolEntry, ToolEntry>();
  const guarded = new Map<string, ValidatorFunction>();
  /** What judged the arguments of a tool before its validator was put there. */
  const schemas = new Map<string, InputRule>();
  const find = (name: string): ValidatorFunction => {
    const before = guarded.get(name);
    if (before !== undefined) return before;
    const found = addedBy(running.set, 'validators', name);
    invariant(found !== undefined, `no extension adds the validator '${name}', and it was checked`);
    const { added, owner } = found;
    const made = guardValidator(added, { extension: owner.name, kind: name, host: running.hostOf(owner) });
    guarded.set(name, made);
    return made;
  };
  return {
    complete(tool) {
      const name = validatorOf(tool.name);
      // Code of a program judges its own tools.
      if (name === null || tool.input.kind === 'validator') return tool;
      const before = known.get(tool);
      if (before !== undefined) return before;
      schemas.set(tool.name, tool.input);
      const manifest = canonicalText({ ...(JSON.parse(tool.manifest) as JsonObject), validate: name });
      const made: ToolEntry = { ...tool, input: { kind: 'validator' }, manifest };
      known.set(tool, made);
      return made;
    },
    validate: (next) => async (tool, args, step) => {
      const [schema, name] = [schemas.get(tool), validatorOf(tool)];
      if (schema === undefined || name === null || step !== null) return next(tool, args, step);
      const first = judge(schema, args);
      if (!first.ok) return first;
      const second = await find(name)(args, { tool });
      return second.ok ? judge(schema, second.args) : second;
    },
  };
}

function judge(schema: InputRule, args: Json): Validated {
  const errors = schema.kind === 'schema' ? schema.check(args) : [];
  return errors.length === 0 ? { ok: true, args } : { ok: false, errors };
}
