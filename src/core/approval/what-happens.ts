/**
 * Says in plain words what a decision about an approval does. Names no agent, no tool and no argument, so that nothing
 * in it can be made up by one of them. Pure.
 */
import type { Reach } from '../policy/policy.ts';
import type { EffectClass } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import type { Approval } from './approval.ts';

/** What is known about the tool that waits; null if this gateway does not have it now. */
export interface WaitingTool {
  readonly effectClass: EffectClass;
  readonly reach: Reach;
}

export function whatHappens(
  { terms, votes, edit, spending }: Pick<Approval, 'terms' | 'votes' | 'edit' | 'spending'>,
  tool: WaitingTool | null,
): readonly string[] {
  const left = terms.needed - votes.length;
  const more = left > 1 ? [`It needs ${left} more people to approve it; until then nothing runs.`] : [];
  if (spending !== undefined)
    return [...more, 'If approved, calls may spend beyond the budget, up to the amount shown, until its window ends.'];
  const runs =
    terms.onApprove === 'run'
      ? 'If approved, the gateway runs the call once, by itself, right away.'
      : 'If approved, the call runs once, when the agent asks for it again; nothing runs before that.';
  const edited = edit === null ? [] : ['It runs with the arguments that an approver changed.'];
  const no = 'If denied, it does not run, and equal calls are denied until this approval expires.';
  return [...more, runs, ...edited, ...(tool === null ? [toolIsGone] : whatItDoes(tool)), no];
}

const toolIsGone = 'The gateway does not have the tool at the moment: the call waits until it is back.';

function whatItDoes({ effectClass, reach }: WaitingTool): readonly string[] {
  const destroys =
    reach === 'destructive' ? ['The tool counts as destructive: it may not be possible to undo what it does.'] : [];
  return [whatItChanges(effectClass), ...destroys];
}

function whatItChanges(effectClass: EffectClass): string {
  switch (effectClass) {
    case 'pure':
      return 'The tool only reads: it changes nothing.';
    case 'keyed':
      return 'The tool changes something; if the answer is lost, sending it again does not do it twice.';
    case 'probeable':
      return 'The tool changes something; if the answer is lost, the gateway can ask whether it happened.';
    case 'plain':
      return 'The tool changes something; if the answer is lost, it stays in doubt until a person settles it.';
    default:
      return unreachable(effectClass);
  }
}
