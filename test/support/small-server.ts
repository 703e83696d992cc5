/**
 * A small MCP server behind a project of a test: how recourse.yaml names it, and one that begins only when a file is
 * there.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './recourse-process.ts';

export const smallProgram = path.join(root, 'test/support/upstream-child.ts');
const node = JSON.stringify(process.execPath);

/** `echo` says of itself that it only reads; everything else says nothing. */
export const smallServer = (name = 'small', mode = 'good'): string =>
  `  ${name}:\n    mcp: { command: ${node}, args: [${JSON.stringify(smallProgram)}, ${mode}] }\n`;

/** Says nothing until the file is there. */
export function lateServer(gate: string, name = 'small'): string {
  const script = `const { existsSync } = require('node:fs');
    const timer = setInterval(() => {
      if (!existsSync(${JSON.stringify(gate)})) return;
      clearInterval(timer);
      process.argv.splice(1, 0, 'server');
      import(${JSON.stringify(pathToFileURL(smallProgram).href)});
    }, 10);`;
  return `  ${name}:\n    mcp: { command: ${node}, args: ["-e", ${JSON.stringify(script)}] }\n`;
}

/** Ends at once unless the file is there. */
export function gatedServer(gate: string, name = 'small'): string {
  const script = `if (!require('node:fs').existsSync(${JSON.stringify(gate)})) process.exit(1);
    process.argv.splice(1, 0, 'server');
    import(${JSON.stringify(pathToFileURL(smallProgram).href)});`;
  return `  ${name}:\n    mcp: { command: ${node}, args: ["-e", ${JSON.stringify(script)}] }\n`;
}

export const rules = (agent: string, lines: readonly string[], otherwise = 'deny'): string =>
  `  ${agent}:\n    default: ${otherwise}\n    rules:${lines.length === 0 ? ' []' : lines.map((line) => `\n      - ${line}`).join('')}\n`;
