/** The declaration of each tool. Nothing in it is guessed, and a tool that is not in the catalogue does not exist. */
import type { Json, JsonObject } from '../values/json.ts';
import type { Metered, ModelUse } from '../model/model-use.ts';
import type { Reach } from '../policy/policy.ts';
import type { DeclaredRecovery, OperationKey } from '../recovery/declared.ts';
import type { Reverse } from '../reversal/declared-reverse.ts';
import type { DeclaredRead } from '../evidence/declared-read.ts';
import type { EffectClass } from '../taxonomy.ts';

/** One wrong field: where, what would be right, what was sent. */
export interface FieldError {
  /** JSON Pointer into the arguments; '' is the whole. */
  readonly path: string;
  readonly expected: string;
  readonly got: Json;
  /** `expected` is a message of the author, not the end of "must be …"; `verbatim`: it is a whole sentence. */
  readonly said?: true | 'verbatim';
}

/** How the arguments are judged. A validator is code of the author's, so its result is a fact that is fetched. */
export type InputRule =
  | { readonly kind: 'schema'; readonly check: (args: Json) => readonly FieldError[] }
  | { readonly kind: 'validator' }
  | { readonly kind: 'anything' };

/** A credential of a tool. */
export interface CredentialUse {
  readonly name: string;
  /** Only for calls of these; null for all. */
  readonly agents: readonly string[] | null;
  /** Where its secret goes, such as `header authorization`. */
  readonly place: string;
}

export interface ToolEntry {
  readonly name: string;
  readonly description: string;
  /** It runs phase by phase, and goes on after a crash. */
  readonly isStage?: true;
  readonly effectClass: EffectClass;
  readonly timeoutMs: number;
  /** For `keyed`: how long the upstream remembers our key. A resend after that is a second write. */
  readonly dedupeWindowMs: number | null;
  /**
   * It answers at once and goes on working: within this time it must report that it is done. Null if its answer is the
   * end of it.
   */
  readonly reportsWithinMs: number | null;
  readonly input: InputRule;
  /** Under which name the upstream knows it: its own, or the tool that an action of a workflow is bound to. */
  readonly invokes: string;
  /** JSON Schema of the arguments, for those who list tools; null if the author's schema cannot be written as one. */
  readonly inputSchema: JsonObject | null;
  /**
   * The tool as its own server lists it (title, annotations, output schema, …), for doors that pass it on; null if
   * nobody lists it.
   */
  readonly listing: JsonObject | null;
  /**
   * What its server says of it, as rules see it: where its tools are pinned, what it said then. Absent if nobody lists
   * it.
   */
  readonly hints?: JsonObject;
  /** By which name rules know it: its own; for an action the tool it is bound to, or `workflow/action`. */
  readonly policyName: string;
  /** How far a call can reach, for ceilings. */
  readonly reach: Reach;
  /** Where its server is reached; null if that is no host. */
  readonly host: string | null;
  /** Its port there; absent without a host. */
  readonly port?: number;
  /** What its author declares about its recovery; absent: nothing. */
  readonly recovery?: DeclaredRecovery;
  /** Which calls are the same operation: one in doubt fences the others of its session. Absent: no two are. */
  readonly operationKey?: OperationKey;
  /** How a call of it is undone. Absent: it cannot be. */
  readonly reverse?: Reverse;
  /** It undoes calls of another tool: called directly only where a rule permits it by its exact name. */
  readonly isReversal?: true;
  /** The reads that its calls rely on, which the gateway makes itself. Absent: none. */
  readonly evidence?: readonly DeclaredRead[];
  /** The credentials that its calls may need; absent: none. */
  readonly credentials?: readonly CredentialUse[];
  /** It uses models: which one a request asks for, and what those can do. Absent: none. */
  readonly models?: ModelUse;
  /** Each attempt uses up something, also one that fails. Absent: only a success costs. */
  readonly metered?: Metered;
  /** Canonical text of what was declared (schemas, effect class, timeout), kept as a blob beside each decision. */
  readonly manifest: string;
}

export type Catalogue = ReadonlyMap<string, ToolEntry>;
