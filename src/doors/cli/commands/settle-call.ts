/**
 * The command `calls settle`: a person reports the outcome of a call in doubt. Whether it may be settled is decided by
 * the core.
 */
import type { Json } from '../../../core/values/json.ts';
import type { MeantId } from '../../../core/values/short-id.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Judged, Judgement } from '../../../shell/ending/settle-doubt.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { resolveId } from '../resolve-id.ts';

export interface SettleParts {
  /** The user of this machine who runs the command. */
  readonly operator: () => string;
  /** Resolves the beginning of a call id; none if the store cannot be read. */
  readonly meant: (file: string, beginning: string) => Promise<MeantId>;
  readonly settle: (
    file: string,
    callId: string,
    judgement: Judgement,
  ) => Promise<
    | { readonly kind: 'settled'; readonly session: string | null; readonly state: string | null }
    | {
        readonly kind: Exclude<Judged, 'settled' | object>;
        readonly session: string | null;
        readonly state: string | null;
      }
    | { readonly kind: 'quarantined'; readonly forMs: number }
    | { readonly kind: 'refused'; readonly message: string }
  >;
}

const maxNameChars = 200;

export async function settleCall(
  { argument: given, said, flags, json }: Command,
  file: string,
  parts: SettleParts,
  terminal: Terminal,
): Promise<ExitCode> {
  const read = readJudgement(said, parts.operator);
  const judgement = flags.has('force') ? { ...read, force: true } : read;
  if ('problem' in judgement) return reportUsage(judgement.problem, terminal);
  const id = await resolveId(given, 'decide', (beginning) => parts.meant(file, beginning), terminal);
  if (typeof id === 'number') return id;
  const judged = await parts.settle(file, id, judgement);
  if (judged.kind !== 'settled') return reportNotSettled(judged, harmless(id), file, terminal);
  const { happened, by } = judgement;
  if (json) terminal.print(`${JSON.stringify({ call_id: id, happened, by, session: judged.session })}\n`);
  else
    terminal.print(
      `${harmless(id)} is settled by ${harmless(by)}: ${consequences[happened](judged.session !== null)}.\n`,
    );
  return exitCodes.done.code;
}

function readJudgement(said: Command['said'], operator: () => string): Judgement | { readonly problem: string } {
  const happened = said.happened as Judgement['happened'];
  const result = readResult(said.result);
  if (result !== undefined && 'problem' in result) return result;
  if (result !== undefined && happened !== 'yes')
    return { problem: `--result is the outcome, and needs --happened yes, not ${happened}` };
  const by = (said.by ?? operator()).slice(0, maxNameChars);
  return { happened, by, ...(result === undefined ? {} : { result: result.value }) };
}

type NotSettled = Exclude<Awaited<ReturnType<SettleParts['settle']>>, { kind: 'settled' }>;

function reportNotSettled(judged: NotSettled, id: string, file: string, terminal: Terminal): ExitCode {
  switch (judged.kind) {
    case 'not_found':
      return refuse(`no call '${id}' is on record; check the id, or look for it with: recourse calls ls`, terminal);
    case 'unclear':
      return refuse(
        `it is not clear what was said about ${id}; name yourself with --by, and say --happened yes, no or unknown`,
        terminal,
      );
    case 'not_in_doubt':
      return refuse(
        `${id} is not in doubt, it is ${judged.state ?? 'in another state'}; nothing was changed. Try: recourse calls ls --state IN_DOUBT`,
        terminal,
      );
    case 'quarantined':
      return refuse(
        `${id} may still be carried out: a no counts in ${Math.ceil(judged.forMs / 1_000)} s. Wait and look again, or add --force, which is recorded`,
        terminal,
      );
    case 'store_unavailable':
      terminal.tell(
        `recourse: '${harmless(file)}' could not be written, and the call may not be settled: check it, then try again\n`,
      );
      return exitCodes.store.code;
    case 'refused':
      terminal.tell(`recourse: ${harmless(judged.message)}\n`);
      return exitCodes.store.code;
    default:
      return unreachable(judged);
  }
}

const consequences: Readonly<Record<Judgement['happened'], (inWorkflow: boolean) => string>> = {
  yes: (inWorkflow) =>
    inWorkflow
      ? 'it took effect. The next equal step of its session takes this result instead of doing it again'
      : 'it took effect. Whoever asks again with its key gets this result',
  no: (inWorkflow) =>
    `it did not happen. ${inWorkflow ? 'The fence is lifted, and the' : 'The'} agent may ask for it again`,
  unknown: (inWorkflow) =>
    `nobody will know. ${inWorkflow ? 'The fence is lifted: an equal step would be sent anew, and' : 'An equal call'} may happen twice`,
};

function readResult(text: string | undefined): { readonly value: Json } | { readonly problem: string } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { problem: `--result must be JSON; a text needs its own quotes, as in --result '"done"'` };
  }
}

function reportUsage(problem: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${problem}. Try: recourse calls settle --help\n`);
  return exitCodes.usage.code;
}

function refuse(sentence: string, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: ${sentence}\n`);
  return exitCodes.no.code;
}
