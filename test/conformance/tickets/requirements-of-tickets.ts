/** What tickets, their answers and the inbox must do, sentence by sentence. */
export const ofTickets: Readonly<Record<string, string>> = {
  'C5-answer-1': 'a ticket lists the answers that are possible as its call stands, with what each would do',
  'C5-answer-2': 'retry runs the call again as a new one, once, and the next equal ask of its agent gets the result',
  'C5-answer-3': 'replace runs it with the arguments of a person',
  'C5-answer-4': 'approve also counts as the approval that policy may ask for, where its person may give it',
  'C5-answer-5': 'an answer that comes too late acts on nothing, and is told how the call stands',
  'C5-answer-6': 'an answer is durable before anything runs, and the next start goes on with it, once',
  'C5-answer-7': 'who waits gets it: by the first call, by its key, by the ticket, or by asking again',
  'C5-answer-8': 'a call that may not run any more is refused, and its ticket says so',
  'C5-answer-9': 'what was given to replace arguments can be erased, and is never the redaction mark',
  'C5-settle-1': 'it happened, it did not and never known settle a doubt, with its quarantine',
  'C5-settle-2': 'retry of a call in doubt sends it once more, by a decision on record',
  'C5-settle-3': 'a doubt after a retry opens its ticket again, and a word about an earlier attempt settles nothing',
  'C5-inbox-1': 'approvals and tickets share one inbox, what is due first at the top',
  'C5-queue-1': 'a ticket is overdue once, and ends by itself, on record and for everybody who asked to be told',
  'C5-queue-4': 'the ticket of a call in doubt does not end by itself, whatever its queue says',
  'C5-queue-2': 'a queue is answered by those whom the file names, and never by who asked',
  'C5-queue-3': 'a ticket is taken, given back and commented on record',
  'C3-forbidden-1':
    'what an upstream forbade is fenced in that session, however it is phrased, until its ticket is closed',
};
