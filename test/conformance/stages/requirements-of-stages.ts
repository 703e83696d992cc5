/** What edges on errors and stages of workflows must do; the number in an id is the section of CONTRACT.md. */
export const ofStages: Readonly<Record<string, string>> = {
  'C6-edge-1': 'a failed step moves its session by the edge on its error, in the commit that records the failure',
  'C6-edge-2': 'class, code, verdict, error and effect decide which edge is taken; without one nothing moves',
  'C6-edge-3': 'validation_failed and denied take the edge of a step that is legal where its session stands',
  'C6-edge-4': 'what is refused because of the session itself never moves its state',
  'C6-edge-5': 'a step in doubt takes no edge until it is settled, and then the one that its end says',
  'C6-edge-6': 'an error edge whose code throws stops the session for repair, and its step is told as it ended',
  'C6-edge-7': 'error edges of a machine and of a file are checked and drawn, and unknown names are problems',
};
