/**
 * Finds the gateway's name of each tool: its own name or its key, changed by `names` or preceded by `prefix`. Two
 * tools with one name, or a name for a tool that does not exist, are errors.
 */
import { type AnyTool, recognise, type ToolList, type ToolRecord } from './tool-shapes.ts';

export interface Naming {
  /** Put before every name that `names` does not change, such as `payments/`. */
  readonly prefix?: string;
  /** The gateway's name for a tool, by the name that the agent uses. */
  readonly names?: { readonly [own: string]: string };
}

export interface NamedTool {
  /** Where it stands in what was given: the key or the index. */
  readonly place: string;
  /** What the agent calls it. */
  readonly own: string;
  /** What the gateway calls it. */
  readonly name: string;
  readonly tool: AnyTool;
}

export function nameTools(tools: ToolList | ToolRecord, naming: Naming): readonly NamedTool[] {
  if (typeof tools !== 'object' || tools === null) throw new TypeError('tools must be a record or a list');
  const { prefix = '', names = {} } = naming;
  const isList = Array.isArray(tools);
  const named = Object.entries(tools as ToolRecord).map(([place, tool]): NamedTool => {
    const own = ownName(tool) ?? (isList ? null : place);
    if (own === null)
      throw new TypeError(`tool ${place} of the list has no name: use a record, { name: tool }, instead of a list`);
    return { place, own, name: Object.hasOwn(names, own) ? (names[own] ?? own) : `${prefix}${own}`, tool };
  });
  const stranger = Object.keys(names).find((own) => named.every((each) => each.own !== own));
  if (stranger !== undefined) throw new TypeError(`names: there is no tool '${stranger}'`);
  const twice = named.find(({ name }, at) => named.findIndex((each) => each.name === name) !== at);
  if (twice !== undefined)
    throw new TypeError(`two tools are called '${twice.name}': give one another name in 'names'`);
  return named;
}

/** A function has a name too, but tools that make code smaller change it. */
function ownName(tool: unknown): string | null {
  const found = recognise(tool);
  if (found?.kind === 'openai') return found.tool.name;
  if (found !== null || typeof tool !== 'object' || tool === null) return null;
  // What cannot be recognised may have a name all the same, by which it is let through or complained of.
  const { name } = tool as { name?: unknown };
  return typeof name === 'string' ? name : null;
}
