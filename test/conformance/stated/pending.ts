/** Requirements whose tests are being written. Empty in a release. */
export const pending: readonly string[] = [
  'S001-ask-1',
  'S001-ask-2',
  'S001-ask-3',
  'S001-ask-4',
  'S003-playbook-7',
  'S003-dispatch-6',
  'S003-reversal-1',
  'S003-reversal-2',
  'S003-reversal-3',
  'S003-reversal-4',
];
