/**
 * The rule of a careful editor, as a workflow over the tools of the filesystem server: a file is read before it is
 * edited, and read again before the next edit. The workflow remembers what was read; the server does the work.
 */
import path from 'node:path';
import { setup } from 'xstate';
import { z } from 'zod';
import { mount } from '../../src/index.ts';

type Edit = { readonly path: string };

const machine = setup({
  types: {
    context: {} as { read: string[] },
    events: {} as { type: 'read_file' | 'edit_file' | 'finish'; inputs: Edit },
  },
  guards: {
    // It looks at the inputs, so `edit_file` is listed as possible, and judged when the path is known.
    'the file was read': ({ context, event }) => context.read.includes(event.inputs.path),
  },
}).createMachine({
  id: 'files',
  initial: 'working',
  context: { read: [] },
  states: {
    working: {
      on: {
        read_file: 'working',
        edit_file: { target: 'working', guard: 'the file was read' },
        finish: 'finished',
      },
    },
    finished: { type: 'final' },
  },
});

/** Two spellings of one path are one file. */
const spellOut = <Inputs extends Edit>(inputs: Inputs) => ({ inputs: { ...inputs, path: path.resolve(inputs.path) } });

export const workflow = mount(machine, {
  description: 'Reads and edits files, in this order.',
  actions: {
    read_file: {
      description: 'Reads a file as text.',
      tool: 'files/read_text_file',
      input: z.object({ path: z.string() }),
      validators: [spellOut],
      update: ({ context, inputs }) => ({ read: [...new Set([...context.read, inputs.path])] }),
    },
    edit_file: {
      description: 'Replaces lines of a file that was read since its last edit.',
      tool: 'files/edit_file',
      input: z.object({ path: z.string(), edits: z.array(z.object({ oldText: z.string(), newText: z.string() })) }),
      validators: [spellOut],
      operation_key: ({ path: file }) => file, // an edit in doubt fences its own file only
      update: ({ context, inputs }) => ({ read: context.read.filter((file) => file !== inputs.path) }),
    },
    finish: { description: 'Ends the work.', effect: 'pure', run: async () => ({}) },
  },
});
