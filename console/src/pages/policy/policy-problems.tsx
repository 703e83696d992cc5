/** What is wrong with the policy as a whole: problems of `check`, audit mode, and a file that is not in force. */
import type { PolicyFile } from '../../../../src/core/policy/look/policy-file.ts';
import { Badge } from '../../parts/badge.tsx';

export function PolicyProblems({ file: { mode, in_force: inForce, problems } }: { readonly file: PolicyFile }) {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  return (
    <div class="row" role="status">
      {mode === 'audit' ? (
        <Badge tone="held">audit: nothing is refused, only recorded</Badge>
      ) : (
        <Badge tone="good">{mode ?? 'no policy'}</Badge>
      )}
      {inForce ? (
        <span class="quiet">The file is what is in force.</span>
      ) : (
        <Badge tone="held">the file has changed: recourse apply puts it in force</Badge>
      )}
      {problems.length === 0 ? (
        <span class="quiet">recourse check finds nothing.</span>
      ) : (
        <span>
          recourse check: {errors} errors, {warnings} warnings
        </span>
      )}
    </div>
  );
}
