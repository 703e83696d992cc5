/** What an author hears when a workflow could not be served safely: everything at once, one problem a line. */
export class WorkflowDefinitionError extends Error {
  override name = 'WorkflowDefinitionError';
  /** Each names its place and what to do. */
  readonly problems: readonly string[];

  constructor(workflow: string, problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`workflow '${workflow.slice(0, 64)}' has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}
