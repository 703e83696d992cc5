/**
 * Gate 3: whether the tool exists. A tool that is not declared is refused; if its server was never reached, the caller
 * is asked to retry.
 */
import { unavailable } from './credential.ts';
import type { Facts, UnlistedServer } from './facts.ts';
import { type Gate, pass } from './gate.ts';
import { namedForModels, nearest, nearestServed } from '../values/nearest.ts';
import { adviseOf, offerTools, totalOf } from '../call/offer-tools.ts';
import { listedTools } from '../policy/listed-tools.ts';
import { ceilingOf } from '../policy/session-ceiling.ts';
import type { Refusal } from '../call/refusal.ts';
import { nextActions } from '../workflow/step.ts';
import { stepOf } from './reachable.ts';

export const known: Gate = {
  name: 'known',
  check(request, facts) {
    const { catalogue, policy, session } = facts;
    // A tool that exists and may never be used is for policy to refuse; it is only not mentioned to others.
    if (catalogue.has(request.tool)) return pass;
    const away = awayServer(request.tool, facts);
    if (away !== null) return { kind: 'refuse', refusal: notConnected(request.tool, away) };
    const listed = listedTools(catalogue, policy, ceilingOf(session?.found ? session.id : null));
    const names = [...listed.keys()];
    const near =
      namedForModels(request.tool, names) ?? nearest(request.tool, names) ?? nearestServed(request.tool, names);
    const step = stepOf(facts);
    // A workflow's actions are told whole.
    const known = step === null ? offerTools(listed, request.tool) : names;
    const possible = step === null ? adviseOf(known) : nextActions(step);
    const total = totalOf(known);
    // Of a workflow the near name may be that of another state: the next move is one that is legal now.
    const actions = near !== null && (step === null || possible.includes(near)) ? [near] : possible;
    const hint = near === null ? '' : ` Did you mean '${near}'?`;
    return {
      kind: 'refuse',
      refusal: {
        error: 'unknown_action',
        class: 'Workflow',
        code: 'UnknownAction',
        message: `action '${request.tool}' is not known.${hint}`,
        resolution: { type: 'choose_action', actions },
        known_actions: known,
        ...(total === null ? {} : { known_total: total }),
        did_you_mean: near,
      },
    };
  },
  saw: (request, { catalogue }) => ({ tool: request.tool, known: catalogue.has(request.tool) }),
};

/**
 * Of a server that was never reached nobody knows which tools it has: then the name is not wrong. Null for any other
 * name.
 */
function awayServer(tool: string, facts: Facts): UnlistedServer | null {
  const server = facts.unlisted?.find(({ name }) => tool.startsWith(`${name}/`)) ?? null;
  if (server === null || stepOf(facts) !== null) return null;
  // An agent that may call nothing of it is told nothing of it.
  const { policy } = facts;
  if (policy === undefined || policy.mode === 'audit') return server;
  const asRead = { name: tool, effect: 'pure', reach: 'read_only', annotations: {} } as const;
  return policy.agent?.couldPermit(asRead) === true ? server : null;
}

function notConnected(tool: string, { name, retryAfterSeconds, lacks }: UnlistedServer): Refusal {
  if (lacks !== undefined) return unavailable(lacks);
  const message = `server '${name}' is not connected yet, and which tools it has is not known`;
  return {
    error: 'action_error',
    class: 'ToolTransient',
    code: 'ResourceBusy',
    message: `action '${tool}' failed: ${message}`,
    resolution: { type: 'retry_after', retry_after_seconds: retryAfterSeconds },
    error_type: 'NotConnected',
    error_message: message,
    verdict: 'transient_timeout',
    compensation: null,
    outcome: null,
  };
}
