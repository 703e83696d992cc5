/** Gate 3: does the tool exist? Absence of a declaration is a no, never a yes. */
import { type Gate, pass } from '../gate.ts';
import { nearest } from '../nearest.ts';
import { listedTools } from '../policy/listed-tools.ts';
import { ceilingOf } from '../policy/session-ceiling.ts';
import { nextActions } from '../workflow/step.ts';
import { stepOf } from './reachable.ts';

export const known: Gate = {
  name: 'known',
  check(request, facts) {
    const { catalogue, policy, session } = facts;
    // A tool that exists and may never be used is for policy to refuse; it is only not mentioned to others.
    if (catalogue.has(request.tool)) return pass;
    const names = [...listedTools(catalogue, policy, ceilingOf(session?.found ? session.id : null)).keys()];
    const near = nearest(request.tool, names);
    const step = stepOf(facts);
    const possible = step === null ? names : nextActions(step);
    // Of a workflow the near name may be that of another state: the next move is one that is legal now.
    const actions = near !== null && possible.includes(near) ? [near] : possible;
    const hint = near === null ? '' : ` Did you mean '${near}'?`;
    return {
      kind: 'refuse',
      refusal: {
        error: 'unknown_action',
        class: 'Workflow',
        code: 'UnknownAction',
        message: `action '${request.tool}' is not known.${hint}`,
        resolution: { type: 'choose_action', actions },
        known_actions: names,
        did_you_mean: near,
      },
    };
  },
};
