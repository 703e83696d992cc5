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
  'C1-models-1': 'clients of models read through the gateway what they read from the provider itself',
  'C1-models-2': 'a client of models that leaves cancels its call, and the provider sees the connection close',
  'C1-models-3': 'refusals and failures are errors that clients of models can read, with their status and code',
  'C1-models-4': 'an agent is told the models that it may ask, and may name them by alias and by provider',
  'C3-models-1': 'a stream that breaks after its first event is told as an error within it',
  'C3-models-2':
    'a refusal for clients of models has the members of the reply, a status that is an error, and says whether to come again',
  'C3-models-3': 'what is refused before there is a call is in the form of the provider too',
  'C6-models-1': 'a stored reply of a model is told as a stream to who asks for one, and nothing is asked again',
  'C6-models-2': 'with a key a model call goes on when its client leaves, and the same request gets the answer',
  'C6-models-3': 'closing the gateway waits for open streams of models, which end whole',
  'C8-models-1': 'no secret and no live key leaves in a stream, however it is cut',
  'C8-models-2': 'where results are redacted nothing is relayed; the stream tells the masked answer',
};
