/** Tools as tests need them: bodies that answer at once, and bodies that wait until the test lets them go on. */
import { type Tool, tool, type ToolContext } from '../../src/index.ts';
import type { EffectClass } from '../../src/core/taxonomy.ts';

export const effectClassNames: readonly EffectClass[] = ['pure', 'keyed', 'probeable', 'plain'];

interface Settings {
  readonly effect?: EffectClass;
  readonly timeout_seconds?: number;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly output?: Readonly<Record<string, unknown>>;
  readonly retry?: NonNullable<Tool['retry']>;
  readonly reconcile?: NonNullable<Tool['reconcile']>;
  readonly quarantine_seconds?: number;
  readonly operation_key?: NonNullable<Tool['operation_key']>;
  readonly partial?: NonNullable<Tool['partial']>;
  readonly reverse?: NonNullable<Tool['reverse']>;
  readonly evidence?: NonNullable<Tool['evidence']>;
}

type Body = (args: Record<string, unknown>, context: ToolContext) => unknown;

/** A tool with everything that its effect class asks for. */
export function aTool(name: string, body: Body, { effect = 'plain', ...settings }: Settings = {}): Tool {
  return tool({
    name,
    description: `${name}, for a test`,
    input: {},
    effect,
    ...(effect === 'keyed' ? { dedupe_window_seconds: 3_600 } : {}),
    ...settings,
    run: async (args: Record<string, unknown>, context) => body(args, context),
  });
}

export interface Run {
  readonly args: Record<string, unknown>;
  readonly context: ToolContext;
  finish(result: unknown): void;
  fail(error: unknown): void;
}

/** A tool whose runs end only when the test says so. It does not obey its signal unless the test makes it. */
export function createHeldTool(name: string, settings: Settings = {}) {
  const runs: Run[] = [];
  let wake: (() => void)[] = [];
  const definition = aTool(
    name,
    (args, context) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      runs.push({ args, context, finish: resolve, fail: reject });
      const waiting = wake;
      wake = [];
      for (const look of waiting) look();
      return promise;
    },
    settings,
  );
  return {
    definition,
    runs: runs as readonly Run[],
    /** Resolves when the body has begun for the n-th time. */
    async begun(count = 1): Promise<Run> {
      for (;;) {
        const run = runs[count - 1];
        if (run !== undefined) return run;
        await new Promise<void>((resolve) => wake.push(resolve));
      }
    },
  };
}

/** A tool that counts how often it ran and answers with the count. */
export function createCountingTool(name: string, settings: Settings = {}) {
  const contexts: ToolContext[] = [];
  const definition = aTool(
    name,
    (args, context) => {
      contexts.push(context);
      return { ran: contexts.length, args };
    },
    settings,
  );
  return { definition, contexts: contexts as readonly ToolContext[], runs: () => contexts.length };
}
