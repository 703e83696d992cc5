/** Bad trees that show that the rules of the console can fail. */

export const badConsoles = {
  'the console imports only itself and the core': [
    { 'console/src/x.tsx': "/** X. */\nimport { handleCall } from '../../src/shell/handle-call.ts';\n" },
    { 'console/src/x.ts': "/** X. */\nimport type { Store } from '../../src/adapters/store/store.ts';\n" },
  ],
  'a page of the console does not know another one': [
    {
      'console/src/pages/a/x.tsx': "/** X. */\nimport { Y } from '../b/y.tsx';\n",
      'console/src/pages/b/y.tsx': '/** Y. */\n',
    },
  ],
  'the console shows text, never markup': [
    { 'console/src/x.tsx': '/** X. */\nplace.innerHTML = text;\n' },
    { 'console/src/x.tsx': '/** X. */\n<p dangerouslySetInnerHTML={{ __html: text }} />;\n' },
  ],
} as const;
