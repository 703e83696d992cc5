/** What an author hears when a workflow could not be served safely: everything at once, one problem a line. */
export class WorkflowDefinitionError extends Error {
  override name = 'WorkflowDefinitionError';
  /** Each names its place and what to do. */
  readonly problems: readonly string[];
  /** By problem, where it has one: the names from the root down to the state that it is about. */
  readonly routes: ReadonlyMap<string, readonly string[]>;

  constructor(
    workflow: string,
    problems: readonly string[],
    routes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`workflow '${workflow.slice(0, 64)}' has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
    this.routes = routes;
  }
}
