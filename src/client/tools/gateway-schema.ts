/** Which schema can a gateway check by, of the kinds in which tools of agents have one? Null if it is none of them. */

/** What zod, valibot, arktype and others share. */
interface Standard {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => never;
  };
}

/** A JSON Schema, told apart by not being the other. */
interface Plain {
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

export type GatewaySchema = Standard | Plain;

export function gatewaySchema(schema: unknown): GatewaySchema | null {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return null;
  const { '~standard': standard, jsonSchema } = schema as { '~standard'?: unknown; jsonSchema?: unknown };
  if (typeof standard === 'object' && standard !== null && 'validate' in standard) return schema as Standard;
  // The AI SDK makes some schemas only when they are asked for.
  if (typeof schema === 'function') return gatewaySchema((schema as () => unknown)());
  // And wraps others, `jsonSchema({...})`, with the schema inside; a promise of one is no schema yet.
  if (typeof jsonSchema === 'object' && jsonSchema !== null) return 'then' in jsonSchema ? null : (jsonSchema as Plain);
  // A schema library that is older than the standard: its objects are instances of classes, JSON Schemas are not.
  const prototype: unknown = Object.getPrototypeOf(schema);
  return prototype === Object.prototype || prototype === null ? (schema as Plain) : null;
}
