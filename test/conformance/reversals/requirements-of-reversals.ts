/** What undoing a call and rolling back a session must do, sentence by sentence. */
export const ofReversals: Readonly<Record<string, string>> = {
  'C6-reversal-1': 'a call whose tool can be undone gets a token with its success, and only there',
  'C6-reversal-2': 'a repeated reply has the same token',
  'C6-reversal-3':
    'a reversal is a call of the declared tool, made from what was sent and what came back; both name each other',
  'C6-reversal-4':
    'an unarmed, expired, foreign, void, used or unknown token is refused with an event, and nothing is sent',
  'C6-reversal-5': 'of all who redeem a token at once one has the effect, and the others get its result',
  'C6-reversal-6': 'a token whose reversing call proved to do nothing can be redeemed again',
  'C6-reversal-7': 'a token whose reversing call may have done anything stays used',
};
