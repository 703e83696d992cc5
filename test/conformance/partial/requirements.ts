/** What partial results, evidence and cancellation promise, sentence by sentence. */
export const ofPartialResults = {
  'C7-partial-1': 'a partial result is the payload in its declared shape, and one typed error for each failed item',
  'C7-partial-2': 'the error of an item says so if nobody knows whether it was done',
  'C7-partial-3': 'the record of a partial result tells how many items failed',
  'C7-partial-4': 'if every item failed, the call has failed: action_error, and FAILED if nothing happened',
  'C7-partial-5': 'if every item failed and one may have been done, the call is in doubt',
  'C7-partial-6': 'nothing is said to have failed whole that may have done a part: a write needs its number of items',
  'C7-partial-7': 'entries of an answer are failed items by what is declared about them',
  'C7-partial-8': 'an answer of which nobody can tell what failed carries an error that says so',
  'C7-items-1': 'failed items are sent again alone, and the results of all sends are one, in the order of the items',
  'C7-items-2': 'failed items are sent again as often as the tool says, then they are told',
  'C7-items-3': 'an item that no resend can help is not sent again',
  'C7-items-4':
    'an item of which nobody knows whether it was done is sent again only by a read, or under a key of its own',
  'C7-items-5': 'a send of some items has a key of its own, the same however often it is sent',
  'C7-items-6': 'whoever cannot tell the items apart sends none of them again',
  'C7-items-7': 'a call of which some items are done ends as a partial result, never as one that did nothing',
  'C7-items-8': 'a cancellation between two sends keeps what is done, and tells the others as cancelled',
  'C7-items-9': 'what nobody knows of the others is a doubt, and a no to it leaves what is done',
  'C7-items-10': 'what is done is on record before anything is sent again: a killed process changes nothing about it',
  'C7-http-1': 'entries of HTTP 207 and of bulk answers are failed items by what is declared about them',
  'C7-http-2': 'HTTP 207 without a declaration is read by the statuses in it, and never told as a success without them',
  'C7-mcp-1': 'failed items in the structured content of an MCP server are read, and sent again, likewise',
  'C6-evidence-5':
    'stale evidence is told with what it says now: which read, its hash before and now, and the content up to a limit',
  'C6-evidence-6': 'reads that a tool declares are made by the gateway, as calls of the agent, before its call',
  'C6-evidence-7':
    'declared evidence is bound to the approval; changed, nothing is sent and the approval is void for good',
  'C6-evidence-8': 'a declared read that cannot be made lets nothing run',
  'C9-refresh-1':
    'evidence that an upstream calls stale is read again; the same is sent once more, changed is told and planned anew',
  'C9-refresh-2': 'a session refreshes its evidence only so often',
  'C9-cancel-2': 'whatever a call does when it is cancelled, it ends as Cancellation and leaves nothing half-held',
  'C9-cancel-3': 'a cancelled doubt stays a doubt',
  'C9-cancel-4': 'a cancelled call stops the calls of its body',
  'C9-cancel-5': 'calls, turns and sessions are cancelled over HTTP, by the command and by the client',
} as const;
