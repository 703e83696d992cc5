/** Requirements whose tests are being written. Empty in a release. */
export const pending: readonly string[] = ['S001-ask-3'];
