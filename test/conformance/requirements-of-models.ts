/** What models behind the gateway must do, sentence by sentence; the number in an id is the section of CONTRACT.md. */
export const ofModels: Readonly<Record<string, string>> = {
  'C1-model-2': 'gate 8 judges the model that each request asks for by itself, and a dry run says the same',
  'C4-metered-1':
    'a budget over usage holds the most that a request can use and charges what was used; what cannot be told denies by name',
  'C6-metered-1':
    'a call that costs is not sent again after its process died; it ends FAILED, effect none, charged what it held',
  'C8-partial-1': 'what had arrived of a broken stream is kept for the audit alone, and hides what a result hides',
  'C9-metered-1':
    'each attempt of a metered tool of which nobody knows what it used counts as the most that it could use; what is over is on record',
  'C9-capability-1':
    'a model that is known to lack streaming, tools or window is action_error, effect none, 422, with a replan that names the models that do not',
};
