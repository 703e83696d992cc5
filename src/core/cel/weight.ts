/** How many steps does it cost to look through a value? By its size; counting stops where every budget ends. */
const charsPerStep = 64;
const nodesPerStep = 16;
const stopCounting = 10_000_000;

export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(value.length / charsPerStep);
  if (typeof value !== 'object' || value === null) return 0;
  return Math.ceil(countNodes(value, 0) / nodesPerStep);
}

/** What a loop costs before it begins: it lists the keys of a map, however soon it ends. */
export function weightOfKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  return value instanceof Map ? value.size : Object.keys(value).length;
}

function countNodes(value: unknown, before: number): number {
  if (before > stopCounting) return before;
  if (typeof value === 'string') return before + 1 + (value.length * nodesPerStep) / charsPerStep;
  if (typeof value !== 'object' || value === null) return before + 1;
  let nodes = before + 1;
  if (Array.isArray(value)) for (const each of value) nodes = countNodes(each, nodes);
  else if (value instanceof Map) for (const each of value.values()) nodes = countNodes(each, nodes);
  else for (const key of Object.keys(value)) nodes = countNodes((value as Record<string, unknown>)[key], nodes);
  return nodes;
}
