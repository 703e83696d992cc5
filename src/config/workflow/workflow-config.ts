/** A workflow of the configuration: the path of a module, or the workflow itself. Types only. */
import type { JsonObject } from '../../core/values/json.ts';
import type { Place } from '../problem.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

export type WorkflowConfig =
  | { readonly kind: 'module'; readonly name: string; readonly at: Place; readonly path: string; readonly tree: Tree }
  | WrittenConfig;

export interface WrittenConfig {
  readonly kind: 'written';
  readonly name: string;
  readonly at: Place;
  /** The keys as they are written; what was wrong is left out. */
  readonly definition: JsonObject;
  /** False if something was left out: what seems to be missing then may have been there. */
  readonly isWhole: boolean;
  readonly tree: Tree;
}
