/** Generates the JSON Schema of recourse.yaml, for editors, from the shape that files are read by. */
import type { Json, JsonObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { configShape } from './config-shape.ts';
import { durationPattern } from '../duration.ts';
import type { FieldsShape, Shape, TextShape } from './shape.ts';

export function configSchema(): JsonObject {
  const again: Record<string, Json> = {};
  const schema = schemaOf(configShape, again);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'recourse.yaml',
    ...schema,
    $defs: again,
  };
}

function schemaOf(shape: Shape, again: Record<string, Json>): JsonObject {
  switch (shape.kind) {
    case 'text':
      return textSchema(shape);
    case 'cel':
      return { type: ['string', 'boolean', 'number'], description: `expression ${shape.says}` };
    case 'flag':
      return { type: 'boolean', description: shape.says };
    case 'nothing':
      return { type: 'null', description: shape.says };
    case 'count':
      return { type: 'integer', minimum: shape.least, maximum: shape.most, description: shape.says };
    case 'number':
      return { type: 'number', minimum: shape.least, maximum: shape.most, description: shape.says };
    case 'duration':
      return { type: 'string', pattern: durationPattern, description: `${shape.says}; such as 10s` };
    case 'json':
      return { ...jsonSorts[shape.sort], description: shape.says };
    case 'fields':
      return fieldsSchema(shape, again);
    case 'named': {
      const [pattern] = shape.key;
      const names = { propertyNames: { pattern } };
      return { type: 'object', ...names, additionalProperties: schemaOf(shape.values, again), description: shape.says };
    }
    case 'list':
      return {
        type: 'array',
        items: schemaOf(shape.items, again),
        minItems: shape.least,
        maxItems: shape.most,
        description: shape.says,
      };
    case 'either': {
      const sorts = [shape.text, shape.map, shape.mapWith, shape.list].filter((each) => each !== undefined);
      return { anyOf: sorts.map((each) => schemaOf(each, again)), description: shape.says };
    }
    case 'again': {
      if (!Object.hasOwn(again, shape.name)) {
        // Registered before it is built, because it contains itself.
        again[shape.name] = {};
        again[shape.name] = schemaOf(shape.shape(), again);
      }
      return { $ref: `#/$defs/${shape.name}` };
    }
    default:
      return unreachable(shape);
  }
}

const jsonSorts: Readonly<Record<string, JsonObject>> = { map: { type: 'object' }, text: { type: 'string' } };

function textSchema({ says, oneOf, pattern, template }: TextShape): JsonObject {
  if (oneOf !== undefined) return { enum: oneOf, description: says };
  // A text with ${NAME} is checked after the name is replaced.
  const [source] = template === true ? [] : (pattern ?? []);
  return { type: 'string', minLength: 1, ...(source === undefined ? {} : { pattern: source }), description: says };
}

function fieldsSchema({ says, fields, oneOf }: FieldsShape, again: Record<string, Json>): JsonObject {
  const properties = Object.entries(fields).map(([name, { shape }]) => [name, schemaOf(shape, again)] as const);
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((name) => ({ required: [name] })) }),
    additionalProperties: false,
    description: says,
  };
}
