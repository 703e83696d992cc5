/** Requirements whose tests are being written. Empty in a release. */
export const pending: readonly string[] = [
  'S001-stage-1',
  'S001-stage-2',
  'S001-stage-3',
  'S001-stage-4',
  'S001-retry-3',
  'S001-ask-3',
  'S003-dispatch-6',
];
