/** What is known of an extension without running it: its name, what it needs, and the names of what it adds. Types. */

/** What extensions can add, by the key under which they declare it. */
export const additions = ['upstreams', 'models', 'credentials', 'notifiers', 'validators', 'costs'] as const;
export type Addition = (typeof additions)[number];

/** The version of the contract between the gateway and its extensions. Raised when an older extension would not run. */
export const contractVersion = 1;

export interface ExtensionShape {
  readonly name: string;
  readonly contract: number;
  /** The extensions that start before it. */
  readonly needs: readonly string[];
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly adds: Readonly<Record<Addition, readonly string[]>>;
}

export type ExtensionCode =
  | 'ShapeInvalid'
  | 'ContractVersionMismatch'
  | 'DependencyMissing'
  | 'DependencyCycle'
  | 'LifecycleFailure';

/** Why an extension cannot be used. */
export interface ExtensionProblem {
  readonly code: ExtensionCode;
  /** Its name, where that is known. */
  readonly extension: string;
  readonly message: string;
  readonly fix: string;
}
