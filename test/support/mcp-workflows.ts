/** Workflows for the tests of the MCP door: those of the documented refusals, and one whose bodies ask their client. */
import { createMachine } from 'xstate';
import { mount, type MountedWorkflow } from '../../src/adapters/upstream-function/workflow/mount.ts';
import type { ToolContext } from '../../src/adapters/upstream-function/tool-context.ts';
import type { JsonObject } from '../../src/core/values/json.ts';

const fields = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const text = { type: 'string' };

export const coffee: MountedWorkflow = mount(
  createMachine({
    id: 'coffee',
    initial: 'idle',
    states: {
      idle: { on: { take_order: 'ordering' } },
      ordering: { on: { add_modifier: 'ordering', pay: 'paid', cancel: 'cancelled' } },
      paid: { on: { fulfill: 'served' } },
      served: { type: 'final' },
      cancelled: { type: 'final' },
    },
  }),
  {
    version: '1',
    description: 'Sells one coffee.',
    actions: {
      take_order: { description: 'Takes an order.', input: fields({ drink: text }), run: async (inputs) => inputs },
      add_modifier: { input: fields({ modifier: text }), run: async (inputs) => inputs },
      pay: { run: async () => ({ paid: true }) },
      fulfill: { run: async () => ({}) },
      cancel: { run: async () => ({}) },
    },
    inputValidators: {
      add_modifier: (inputs) =>
        ['oat', 'soy', 'almond'].includes(String((inputs as JsonObject)['modifier']))
          ? true
          : { field: 'modifier', reason: 'modifier must be one of: oat, soy, almond' },
    },
  },
);

const report: MountedWorkflow = mount(
  createMachine({
    id: 'report',
    initial: 'waiting',
    states: { waiting: { on: { fetch_report: 'done', cancel: 'done' } }, done: { type: 'final' } },
  }),
  {
    actionTimeoutSeconds: 0.25,
    actions: {
      fetch_report: { effect: 'pure', run: async () => new Promise<never>(() => undefined) },
      cancel: { run: async () => ({}) },
    },
  },
);

class ValueError extends Error {
  override readonly name = 'ValueError';
}

const files: MountedWorkflow = mount(
  createMachine({
    id: 'files',
    initial: 'open',
    states: { open: { on: { read_file: 'open', edit_file: 'open' } } },
  }),
  {
    actions: {
      read_file: { effect: 'pure', run: async () => ({}) },
      edit_file: {
        atomic: true,
        run: async () => {
          throw new ValueError('must read the file before editing it');
        },
      },
    },
  },
);

const twoStates = createMachine({
  id: 'two_states',
  initial: 'one',
  states: { one: { on: { first: 'two' } }, two: { on: { second: 'one' } } },
});
const twoActions = { first: { run: async () => ({}) }, second: { run: async () => ({}) } };

/** Stops after two refusals in a row. */
export const strict: MountedWorkflow = mount(twoStates, { refusals: { stop_after: 2 }, actions: twoActions });
export const secret: MountedWorkflow = mount(twoStates, { state: 'none', actions: twoActions });

export const workflows = { coffee, report, files };

const milk = { type: 'object', properties: { milk: text } };
const hello = { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], maxTokens: 9 };

/** `heard` gets the message of everything that a body was told instead of an answer. */
export function createTalk(): { readonly workflow: MountedWorkflow; readonly heard: readonly string[] } {
  const heard: string[] = [];
  const ask = async (context: Pick<ToolContext, 'elicit'>) => {
    try {
      return await context.elicit('which milk?', milk);
    } catch (error) {
      heard.push(String(error));
      throw error;
    }
  };
  const again = 'talking';
  const wait = (signal: AbortSignal) =>
    new Promise<object>((resolve) => {
      heard.push('began');
      signal.addEventListener('abort', () => {
        heard.push('stopped');
        resolve({});
      });
    });
  const asking = { ask_milk: again, ask_often: again, ask_model: again, ask_in_a_hurry: again };
  const on = { ...asking, wait: again, ask_and_wait: again };
  const workflow = mount(createMachine({ id: 'talk', initial: 'talking', states: { talking: { on } } }), {
    actionTimeoutSeconds: 20,
    actions: {
      ask_milk: { run: async (_inputs, context) => ask(context) },
      ask_often: {
        effect: 'pure',
        async run(_inputs, context) {
          const first = [await ask(context), await ask(context)];
          const both = await Promise.all([ask(context), ask(context)]);
          return [...first, ...both].map(({ content }) => content?.['milk'] ?? null);
        },
      },
      ask_model: { effect: 'pure', run: async (_inputs, context) => context.sample(hello) },
      ask_in_a_hurry: { timeout_seconds: 0.3, run: async (_inputs, context) => ask(context) },
      wait: { run: async (_inputs, { signal }) => wait(signal) },
      ask_and_wait: {
        async run(_inputs, context) {
          await ask(context);
          return wait(context.signal);
        },
      },
    },
  });
  return { workflow, heard };
}
