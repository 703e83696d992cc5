/** The types of the section extensions, and of the places that name what they add. Plain data. */
import type { Addition } from '../../core/extension/extension-shape.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Place } from '../problem.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

/** A module that exports an extension. */
export interface ExtensionConfig {
  readonly name: string;
  readonly at: Place;
  /** A path from the folder of its file, or the name of a package. */
  readonly module: string;
  readonly settings: JsonObject;
  readonly tree: Tree;
}

/** A place that names something that an extension adds. */
export interface KindUse {
  readonly addition: Addition;
  readonly kind: string;
  readonly settings: JsonObject;
  readonly at: Place;
  /** Where its settings are written. */
  readonly tree: Tree;
}
