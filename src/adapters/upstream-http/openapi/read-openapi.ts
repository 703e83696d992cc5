/** Makes a tool of every operation of an OpenAPI document. Total: each operation is a tool, or refused with a reason. */
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import type { RequestPlan } from '../plan-request.ts';
import { createBundler } from './bundle-schemas.ts';
import { type Loose, type OpenApiDocument, parseDocument, resolve } from './parse-document.ts';
import { type Operation, readOperation } from './read-operation.ts';

export interface OpenApiTool {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly plan: RequestPlan;
  readonly input: JsonObject;
  readonly output: JsonObject | null;
}

export interface RefusedOperation {
  readonly tool: string;
  readonly reason: string;
}

export type ReadOpenApi =
  | {
      readonly ok: true;
      readonly tools: readonly OpenApiTool[];
      readonly refused: readonly RefusedOperation[];
      readonly operations: number;
    }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

export interface OpenApiChoice {
  /** Whether the operation of this name becomes a tool. */
  readonly isWanted?: (name: string) => boolean;
  /** Headers that the configuration sets are no arguments. */
  readonly headers?: readonly string[];
}

const maxNameChars = 64;
const notOperations: readonly string[] = ['parameters', 'servers', 'summary', 'description', '$ref'];

export function readOpenApi(text: string, { isWanted = () => true, headers = [] }: OpenApiChoice = {}): ReadOpenApi {
  const parsed = parseDocument(text);
  if (!parsed.ok) return parsed;
  const { document } = parsed;
  const configured = new Set(headers.map((name) => name.toLowerCase()));
  const parts = { document, bundler: createBundler(document), configured };
  const taken = new Set<string>();
  const tools: OpenApiTool[] = [];
  const refused: RefusedOperation[] = [];
  for (const given of operationsOf(document)) {
    const name = nameOf(given, taken);
    taken.add(name);
    if (!isWanted(name)) continue;
    const read = typeof given.shared === 'string' ? given.shared : readOperation(given as Operation, parts);
    if (typeof read === 'string') refused.push({ tool: name, reason: read });
    else tools.push({ name, path: given.path, ...read });
  }
  return { ok: true, tools, refused, operations: tools.length + refused.length };
}

interface FoundOperation extends Omit<Operation, 'shared'> {
  /** A text says why the path cannot be read. */
  readonly shared: Loose | string;
}

function operationsOf(document: OpenApiDocument): readonly FoundOperation[] {
  const paths = isObject(document.root['paths']) ? document.root['paths'] : {};
  return Object.entries(paths).flatMap(([path, given]): readonly FoundOperation[] => {
    if (path.startsWith('x-')) return [];
    const shared = resolve(document, given);
    if (typeof shared === 'string') return [{ method: 'GET', path, shared, operation: {} }];
    return Object.entries(shared).flatMap(([method, operation]) =>
      notOperations.includes(method) || method.startsWith('x-') || !isObject(operation)
        ? []
        : [{ method: method.toUpperCase(), path, shared, operation }],
    );
  });
}

/** The operationId, or method and path; of letters, digits, _ and -, and unique in the order of the document. */
function nameOf({ method, path, operation }: FoundOperation, taken: ReadonlySet<string>): string {
  const { operationId } = operation;
  const given = typeof operationId === 'string' && operationId !== '' ? operationId : `${method.toLowerCase()}${path}`;
  const safe = given.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'operation';
  const base = safe.slice(0, maxNameChars);
  let name = base;
  for (let again = 2; taken.has(name); again++) name = `${base.slice(0, maxNameChars - 5)}_${again}`;
  return name;
}
