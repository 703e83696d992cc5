/** Seed 002: what a governed call is denied with. */
import { absent, type Stated, under } from './stated.ts';

const policy = 'docs/guides/policy.md';
const replies = 'docs/guides/replies.md';
const approvals = 'docs/guides/approvals.md';
const client = 'docs/guides/client.md';

const intro = under('Denial codes');
const limits = 'docs/guides/limits.md';

export const seed002: Readonly<Record<string, Stated>> = {
  'S002-payload-1': intro('a denial is a structured payload, at every door', replies),
  'S002-payload-2': intro('every denial has its code, a sentence for people and what to do next', replies),
  'S002-deny-1': under('POLICY_DENY')('a call that a rule denies is refused with the place of the rule', policy),
  'S002-deny-2': under('POLICY_DENY')('whoever edits the rule changes the answer; a repetition does not', policy),
  'S002-deny-3': under('Denial codes')('what no rule permits is said not to be in the allow list', policy),
  'S002-defer-1': under('POLICY_DEFER')(
    'a call that a rule defers waits for a person and names its approval',
    approvals,
  ),
  'S002-defer-2': under('POLICY_DEFER')(
    'the agent may read the approval, and asks again once it is granted',
    approvals,
  ),
  'S002-rate-1': under('RATE_EXCEEDED')(
    'beyond the rate of its pattern a call is denied, with the time to wait',
    limits,
  ),
  'S002-rate-2': under('RATE_EXCEEDED')('clients wait by themselves where a denial says how long', client),
  'S002-budget-1': under('BUDGET_EXCEEDED')(
    'beyond its ceiling a call is denied, with the budget and its reset',
    limits,
  ),
  'S002-budget-2': under('BUDGET_EXCEEDED')('after the reset calls go on', limits),
  'S002-warning-1': under('BUDGET_WARNING')('near its ceiling a call runs, and its reply carries a warning', limits),
  'S002-warning-2': under('BUDGET_WARNING')(
    'what happens beyond the ceiling is declared; with defer the warning names an approval',
    limits,
  ),
  'S002-ready-1': under('DAEMON_NOT_READY')(
    'while the gateway starts a call is denied, with the time to wait',
    'src/core/gates/ready.ts',
  ),
  'S002-ready-2': under('DAEMON_NOT_READY')(
    'how long a start may take before the operator is told is configured as cold_start_grace',
    'docs/guides/configuration.md',
  ),
  'S002-complete-1': under('COMPLETION_BLOCKED')(
    'an agent is not done while something is open; the denial names the approvals',
    approvals,
  ),
  'S002-complete-2': under('COMPLETION_BLOCKED')('once they are resolved the completion is accepted', approvals),
  'S002-egress-1': under('EGRESS_DENIED')(
    'a host that the list does not allow is denied by its name',
    'docs/guides/egress.md',
  ),
  'S002-model-1': under('MODEL_DENIED')(
    'a model that the policy does not allow is denied by its name',
    'docs/guides/models.md',
  ),
  'S002-credential-1': under('CREDENTIAL_UNAVAILABLE')(
    'a secret that its provider does not give denies the call, with the name of the provider and the time to wait',
    'docs/guides/credentials.md',
  ),
  'S002-credential-2': under('CREDENTIAL_UNAVAILABLE')(
    'operators see in the status which credential fails',
    'src/shell/look/report-credentials.ts',
  ),
  'S002-gap-1': under('RUNTIME_GAP')(
    'what policy cannot decide is told beside another decision, such as work that was never reported',
    policy,
    'the report is the method recourse/tasks/complete',
  ),
  'S002-gap-2': under('RUNTIME_GAP')('it is on record for audits', policy),
  'S002-client-1': under('SDK handling')(
    'the TypeScript client throws a ToolDeniedError with code, approval and resolution',
    client,
    'every name is that of the wire in camelCase; what is not a denial is a CallError',
  ),
  'S002-client-2': under('SDK handling')(
    'a caller can branch on the code, wait as told and ask again, or say when the budget resets',
    client,
  ),
  'S002-client-3': absent(
    'SDK handling',
    'the Python client raises ToolDeniedException',
    'there is no Python client; the class comes with one. Programs in Python use HTTP or MCP',
    client,
  ),
  'S002-audit-1': under("What's next")('denials can be followed as they happen', 'docs/guides/cli.md'),
};
