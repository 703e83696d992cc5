/**
 * The tools of the primer: a coffee bar whose next action can be made to fail. Plain definitions that do not know the
 * story.
 */
import type { Effect, EffectClass, ErrorKind } from '../../../core/taxonomy.ts';

/** What the next tool call does instead of its work. */
export type Mood =
  /** Waits until the story releases it: until then it neither answers nor stops. */
  | { readonly does: 'wait' }
  | { readonly does: 'throw'; readonly message: string }
  | { readonly does: 'state'; readonly kind: ErrorKind; readonly message: string; readonly effect: Effect }
  | { readonly does: 'return'; readonly value: unknown }
  | { readonly does: 'part'; readonly value: unknown; readonly failed: readonly FailedItem[] };

export interface FailedItem {
  readonly item: string;
  readonly kind: ErrorKind;
  readonly message: string;
}

type Args = Readonly<Record<string, unknown>>;

/** The part of the tool context that is used. */
interface BarContext {
  fail(failure: { readonly kind: ErrorKind; readonly message: string; readonly effect: Effect }): never;
}

export interface BarTool {
  readonly name: string;
  readonly description: string;
  readonly input: { readonly [keyword: string]: unknown };
  readonly output?: { readonly [keyword: string]: unknown };
  readonly effect: EffectClass;
  readonly run: (args: Args, context: BarContext) => Promise<unknown>;
}

interface Definition extends Pick<BarTool, 'name' | 'description' | 'output'> {
  /** `plain` if left out. */
  readonly effect?: EffectClass;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly make: (args: Args) => unknown;
}

/** Makes a partial result. */
export type MakePartial = (value: unknown, failed: readonly FailedItem[]) => unknown;

const text = { type: 'string' };

export function createBar(partial: MakePartial) {
  let next: Mood | null = null;
  let orders = 0;
  let begun = (): void => undefined;
  let go = (): void => undefined;

  const work = async (context: BarContext, make: () => unknown): Promise<unknown> => {
    const mood = next;
    next = null;
    begun();
    switch (mood?.does) {
      case undefined:
        return make();
      case 'wait':
        await new Promise<void>((resolve) => (go = resolve));
        return make();
      case 'throw':
        throw new Error(mood.message);
      case 'state':
        return context.fail({ kind: mood.kind, message: mood.message, effect: mood.effect });
      case 'return':
        return mood.value;
      case 'part':
        return partial(mood.value, mood.failed);
      default:
        return mood satisfies undefined;
    }
  };

  const define = ({ properties, make, ...about }: Definition): BarTool => {
    const required = Object.keys(properties).filter((each) => each !== 'note');
    const input = { type: 'object', properties, required, additionalProperties: false };
    const run: BarTool['run'] = async (args, context) => work(context, () => make(args));
    return { output: { type: 'object' }, effect: 'plain', ...about, input, run };
  };

  const tools = [
    define({
      name: 'take_order',
      description: 'Take an order for one drink.',
      properties: { drink: { enum: ['latte', 'espresso', 'mocha'] }, note: text },
      make: ({ drink }) => ({ order: `order-${(orders += 1)}`, drink, cents: 450 }),
      output: { type: 'object', properties: { order: text }, required: ['order'] },
    }),
    define({
      name: 'add_modifier',
      description: 'Change the milk of an order.',
      properties: { order: text, modifier: { enum: ['oat', 'soy', 'almond'] } },
      make: (args) => args,
    }),
    define({
      name: 'pay',
      description: 'Charge the card for an order.',
      properties: { order: text, cents: { type: 'integer' } },
      make: ({ cents }) => ({ charged_cents: cents }),
    }),
    define({
      name: 'fulfill',
      description: 'Make what was ordered.',
      properties: { order: text },
      make: () => ({ made: ['latte'] }),
    }),
    define({
      name: 'cancel',
      description: 'Throw an order away.',
      properties: { order: text },
      make: ({ order }) => ({ cancelled: order }),
    }),
    define({
      name: 'read_order',
      description: 'Look an order up.',
      effect: 'pure',
      properties: { order: text },
      make: ({ order }) => ({ order, drink: 'latte' }),
    }),
  ];

  return {
    tools,
    spoil: (mood: Mood) => void (next = mood),
    /** Lets the body that waits do its work. */
    release: () => go(),
    /** Resolves when the next body has begun. */
    nextBegins: () => new Promise<void>((resolve) => (begun = resolve)),
  };
}

export type Bar = ReturnType<typeof createBar>;
