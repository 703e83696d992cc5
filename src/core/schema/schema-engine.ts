/**
 * Configures ajv for schemas from outside: nothing is logged, loaded, coerced or filled in. References and patterns
 * are counted against a budget; unknown keywords and formats are tolerated. One engine per schema, so that identifiers
 * never clash.
 */
import { Ajv } from 'ajv/dist/ajv.js';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { _, Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import { canonicalise } from '../values/canonical.ts';
import type { PatternEngine } from './linear-pattern.ts';
import { isSimpleSchema } from './simple-schema.ts';
import type { WorkBudget } from './work-budget.ts';

export type SchemaEngine = Ajv | Ajv2019 | Ajv2020;
type Dialect = 'draft-07' | '2019-09' | '2020-12';

const makers = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 } as const;
const judges = new Map<Dialect, SchemaEngine>();

/** Older drafts than 7 are read as draft 7, anything that is not named as 2020-12. */
export function dialectOf(schema: object): Dialect {
  const named = (schema as { $schema?: unknown }).$schema;
  if (typeof named !== 'string') return '2020-12';
  if (/draft-0[3-7]/.test(named)) return 'draft-07';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

/**
 * What is wrong with the schema itself, or null. Compiling a meta-schema is dear, so each is compiled once, for schemas
 * that need it.
 */
export function problemOfSchema(schema: object): string | null {
  return isSimpleSchema(schema) ? null : problemByMetaSchema(schema);
}

export function problemByMetaSchema(schema: object): string | null {
  const dialect = dialectOf(schema);
  let judge = judges.get(dialect);
  if (judge === undefined) {
    judge = new makers[dialect]({ strict: false, logger: false, validateFormats: false });
    judges.set(dialect, judge);
  }
  // The name of an older or unknown dialect would make ajv look for its meta-schema.
  if (judge.validateSchema({ ...schema, $schema: undefined } as object) === true) return null;
  const [first] = judge.errors ?? [];
  return first === undefined ? 'it is not a JSON Schema' : `${first.instancePath || 'the schema'} ${first.message}`;
}

export function createEngine(
  schema: object,
  options: { readonly allErrors: boolean; readonly patterns: PatternEngine; readonly budget: WorkBudget },
): SchemaEngine {
  const engine = new makers[dialectOf(schema)]({
    strict: false,
    strictNumbers: true,
    logger: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    ownProperties: true,
    // 0.07 is a multiple of 0.01, whatever binary fractions say.
    multipleOfPrecision: 9,
    inlineRefs: false,
    messages: false,
    allErrors: options.allErrors,
    verbose: true,
    code: { regExp: options.patterns },
  });
  // Old drafts call it `id`; ajv would refuse the schema for it.
  engine.removeKeyword('id');
  for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) chargeReference(engine, keyword, options.budget);
  engine.removeKeyword('uniqueItems');
  engine.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areAllDifferent(items),
  });
  return engine;
}

/** INVARIANT: no reference is followed without being paid for; a chain of them can double the work at every link. */
function chargeReference(engine: SchemaEngine, keyword: string, budget: WorkBudget): void {
  const known = engine.getKeyword(keyword);
  if (typeof known === 'boolean' || !('code' in known) || known.code === undefined) return;
  const follow = known.code;
  engine.removeKeyword(keyword);
  engine.addKeyword({
    keyword,
    schemaType: 'string',
    code(context: KeywordCxt) {
      const wallet = context.gen.scopeValue('obj', { ref: budget });
      context.gen.if(_`--${wallet}.references < 0`, () => context.gen.throw(_`${wallet}.exhausted`));
      follow(context);
    },
  });
}

/** ajv compares each item with each other; one text for each value needs a single pass. */
function areAllDifferent(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const written = canonicalise(item, { maxDepth: 256 });
    if (!written.ok) continue;
    if (seen.has(written.text)) return false;
    seen.add(written.text);
  }
  return true;
}
