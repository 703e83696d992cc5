/** A workflow in YAML, read and compiled as a file would be: for the tests of what it says. */
import assert from 'node:assert/strict';
import { readConfig } from '../../src/config/read-config.ts';
import { type WrittenWorkflow, workflowFromYaml } from '../../src/config/workflow/workflow-from-yaml.ts';
import { compileMachine } from '../../src/core/workflow/compile-machine.ts';
import type { Moved, Snapshot } from '../../src/core/workflow/workflow.ts';

const indent = (text: string) => text.replace(/^/gm, '    ');

/** Problems by the place in `text`. */
export function readYaml(text: string): { written: WrittenWorkflow | null; problems: readonly string[] } {
  const file = `tools:\n  shop:\n    mcp: { command: shop }\nworkflows:\n  w:\n${indent(text)}`;
  const config = readConfig(file, 'recourse.yaml');
  const [workflow] = config.config.workflows;
  const written = workflow?.kind === 'written' ? workflowFromYaml(workflow, config.tell) : null;
  return {
    written,
    problems: config.allProblems().map(({ line, column, message }) => `${line - 5}:${column - 4} ${message}`),
  };
}

export function compileYaml(text: string) {
  const { written, problems } = readYaml(text);
  assert.deepEqual(problems, []);
  assert.ok(written !== null);
  const { machine, options } = written;
  const updates = new Map(
    Object.entries(options.actions).map(([name, { update }]) => [name, (update ?? null) as never]),
  );
  const compiled = compileMachine(machine, { name: options.name, actions: updates });
  if (!compiled.ok) assert.fail(compiled.problems.join('\n'));
  return { ...compiled, options };
}

export function moved(result: Moved): Snapshot {
  if (result.kind !== 'moved') assert.fail(`${result.errorType}: ${result.problem}`);
  return result.snapshot;
}
