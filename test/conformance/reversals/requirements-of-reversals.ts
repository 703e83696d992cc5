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
  'C6-reversal-8': 'a tool that undoes others is called directly only under a rule with its exact name',
  'C6-reversal-9': 'a reversal meets every rule about its tool, but no default',
  'C6-reversal-10': 'the keys of reversals are kept from callers',
  'C6-rollback-1': 'a rollback undoes the calls of a session, the last first, and lists with why what it could not',
  'C6-rollback-2': 'a rollback goes on past a reversal that fails, with an event and a ticket',
  'C6-rollback-3': 'a rollback that is started twice is one, and its session takes no new call',
  'C6-rollback-4': 'a call in doubt that its declared read finds is settled and undone',
  'C6-rollback-5': 'a call that succeeds after the rollback listed it as in doubt is undone then',
  'C6-rollback-6': 'a reversal that is in doubt is listed as unknown, and never sent again',
  'C6-rollback-7': 'what is too old, or what policy denies now, is listed with why',
  'C6-rollback-8': 'killed at any event, a rollback is carried on by the next process, and nothing is undone twice',
  'C5-reversal-1': 'issue_reversal settles a call that is proven to have taken effect, and undoes it',
  'C5-reversal-2': 'issue_reversal refuses a call that is not proven to have taken effect, with an event and a ticket',
  'C5-reversal-3': 'issue_reversal whose reversal does nothing is told as exhausted',
};
