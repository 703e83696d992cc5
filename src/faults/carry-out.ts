/** Carries out one request under its fault: records it, waits, makes the effect, and says what is to be written. */
import type { Entry, Ledger } from './ledger.ts';
import type { Asked, Payments } from './payments.ts';
import { timeOf } from './payments.ts';
import { type Answer, planBehaviour, problem, type Reply } from './plan-behaviour.ts';
import type { RuleQueue } from './rule-queue.ts';

/** What a front writes; `own` has become the reply. */
export type Written = Exclude<Answer, { kind: 'own' }> | { readonly kind: 'outcome'; readonly reply: Reply };

export interface Desk {
  /** Never rejects. */
  handle(asked: Asked): Promise<Written>;
  /** Ends every wait. What was to be executed later is not. */
  stop(): void;
}

export interface DeskParts {
  readonly ledger: Ledger;
  readonly payments: Payments;
  readonly rules: RuleQueue;
  readonly nowMs: () => number;
}

export function createDesk({ ledger, payments, rules, nowMs }: DeskParts): Desk {
  const waits = new Map<NodeJS.Timeout, () => void>();
  let isStopped = false;

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (ms === 0 || isStopped) return resolve();
      const timer = setTimeout(() => {
        waits.delete(timer);
        resolve();
      }, ms);
      waits.set(timer, resolve);
    });

  const record = (kind: Entry['kind'], asked: Asked, more: Partial<Entry>) =>
    ledger.append({ at: timeOf(nowMs()), kind, ...asked, ...more });

  const execute = (asked: Asked): Reply => payments.begin(asked) ?? payments.execute(asked);

  async function executeLater(asked: Asked, ms: number): Promise<void> {
    if (payments.begin(asked) !== null) return;
    await wait(ms);
    if (isStopped) return;
    try {
      payments.execute(asked);
    } catch {
      // Ignored: the ledger is broken, and says so to every later request.
    }
  }

  async function run(asked: Asked): Promise<Written> {
    const full = ledger.problem();
    if (full !== null) return { kind: 'reply', reply: problem(507, 'ledger_failed', {}, full) };
    const fault = rules.take(asked.operation, asked.key);
    const { beforeMs, executions, lateMs, afterMs, answer } = planBehaviour(fault, nowMs());
    record('received', asked, { fault: fault.fault });
    if (lateMs !== null) {
      void executeLater(asked, lateMs);
      return answer.kind === 'own' ? { kind: 'drop' } : answer;
    }
    // The key is taken before the wait, so that a repeat meets it in flight.
    const refused = executions === 0 ? null : payments.begin(asked);
    await wait(beforeMs);
    if (isStopped) return { kind: 'drop' };
    let reply = refused;
    if (executions > 0) reply ??= payments.execute(asked);
    if (executions === 2) execute(asked);
    await wait(afterMs);
    const written: Written = answer.kind === 'own' && reply !== null ? { kind: 'outcome', reply } : (answer as Written);
    const status = 'reply' in written ? written.reply.status : 200;
    if (!unanswered.has(written.kind)) record('answered', asked, { status });
    return written;
  }

  return {
    handle: (asked) =>
      run(asked).catch((error: unknown) => {
        const detail = ledger.problem() ?? String(error);
        return { kind: 'reply', reply: problem(507, 'ledger_failed', {}, detail) };
      }),
    stop() {
      isStopped = true;
      for (const [timer, resolve] of waits) {
        clearTimeout(timer);
        resolve();
      }
      waits.clear();
    },
  };
}

const unanswered: ReadonlySet<Written['kind']> = new Set(['drop', 'nothing', 'refuse']);
