/** What policy must do, sentence by sentence; the number in an id is the section of CONTRACT.md. */
export const ofGovernance: Readonly<Record<string, string>> = {
  'C1-policy-1': 'the first rule that matches speaks; no match is the default; no default is a no',
  'C1-policy-2': 'policy sees the arguments as the validators left them',
  'C1-policy-3': 'a tool that exists and may never be used answers POLICY_DENY, and is not listed',
  'C1-policy-4': 'an agent that policy does not know may do nothing; several agents have each their own rules',
  'C1-policy-5': 'an action is judged by the tool it is bound to, or by workflow/action',
  'C1-policy-6': 'a session reaches no further than the mode of its agent',
  'C1-model-1': 'a model that is not in the model policy is MODEL_DENIED',
  'C3-http-1': 'whatever arrives over HTTP gets a typed body, and never a 500',
  'C4-deny-1': 'POLICY_DENY has the forms of seed 002, with rule_ref and rule_id, 403',
  'C4-deny-2': 'a refusal by policy reaches no tool, takes no key and is on record with its rule',
  'C6-retries-1': 'what is sent again is permitted by the policy of that moment',
  'C8-policy-1': 'every decision is recorded with the hash of the policy it was made under',
  'C8-redact-1': 'what is masked is in no record and no reply; the tool gets what was sent',
  'C8-redact-2': 'a call whose record is masked is not sent again',
  'C9-broken-1': 'a missing field or an error in a condition denies, by name, whatever the rule says',
  'C9-audit-1':
    'audit mode lets pass what policy denies, records what enforcing would have said, and softens nothing else',
  'C9-change-1': 'a change of policy applies to the next call',
  'C9-validation-1': 'any text of configuration gives a configuration, or problems that each have file, line and fix',
  'C9-explain-1': 'an explanation decides like the call itself, and leaves nothing behind',
};
