/** Shape of the section agents. Data only; read-policy.ts checks what the parts mean together. */
import { amountForm } from '../../core/budget/amount.ts';
import { exceedings } from '../../core/budget/budget.ts';
import { windowKinds } from '../../core/budget/window.ts';
import { reaches, ruleEffects } from '../../core/policy/policy.ts';
import { addedName } from './extension-shape.ts';
import { cel, count, duration, flag, type Field, listOf, named, nameKey, type Shape, text } from './shape.ts';

const year = 366 * 86_400_000;
/** Rules of one agent in a file; a decision looks only at those that could match. */
const maxRules = 10_000;
/** The most people that one approval may need. */
const maxNeeded = 20;
const maxRequired = 100;
/** The most tokens that a bucket may hold. */
const maxBurst = 1_000_000_000;

export const reachText = (says: string): Shape => text(says, { oneOf: reaches });

export const toolPattern = text('a tool; * stands for anything within a part of its name, ** for any depth', {
  pattern: ['^\\S{1,256}$', 'the name of a tool such as files/read_*, at most 256 characters'],
});

const patterns: Shape = {
  kind: 'either',
  says: 'a tool, or a list of tools',
  text: toolPattern,
  list: listOf('any of these tools', toolPattern, 1),
};

const approvers = (says: string): Shape => listOf(says, text('a role', { pattern: nameKey }), 1);

/** Keys that only a rule with defer may have. */
export const deferKeys = ['approvers', 'needs', 'expires', 'on_approve', 'client_may_approve'] as const;

export const ruleShape: Shape = {
  kind: 'fields',
  says: 'a rule: permit, defer or deny, and which tools',
  oneOf: ruleEffects,
  fields: {
    ...Object.fromEntries(ruleEffects.map((effect): [string, Field] => [effect, { shape: patterns }])),
    when: { shape: cel('over args, agent, principal, session, state, tool, model, host and now: true lets it count') },
    reason: {
      shape: text('what the agent is told', {
        pattern: ['^[^\\u0000-\\u001f\\u007f]{1,300}$', 'one line of at most 300 characters'],
      }),
    },
    approvers: { shape: approvers('the roles that may approve') },
    needs: { shape: count('how many different people must approve; 1 if not given', 1, maxNeeded) },
    expires: { shape: duration('how long it may be approved, and an approval used; 24h if not given', 1_000, year) },
    on_approve: {
      shape: text('wait: the agent asks again; run: it runs as soon as it is approved', { oneOf: ['wait', 'run'] }),
    },
    client_may_approve: { shape: flag("whether the user of the agent's own client may approve; false if not given") },
  },
};

export const limitShape: Shape = {
  kind: 'fields',
  says: 'how often tools may be called',
  fields: {
    match: { shape: toolPattern, required: true },
    burst: { shape: count('how many may come at once; as many as the rate names if not given', 1, maxBurst) },
    rate: {
      shape: text('how often, such as 10/minute', {
        pattern: [
          '^[1-9][0-9]{0,8}/(?:second|minute|hour|day)$',
          'a rate such as 10/minute; second, minute, hour or day',
        ],
      }),
      required: true,
    },
  },
};

const amount = (says: string): Shape =>
  text(says, { pattern: ['^[0-9]{1,12}(?:\\.[0-9]{1,6})? (?:[A-Z]{3}|calls|tokens)$', amountForm] });

const budgetFields: Readonly<Record<string, Field>> = {
  max: { shape: amount('how much may be spent, such as 500 USD, 1000 calls or 200000 tokens'), required: true },
  match: { shape: toolPattern },
  cost: {
    shape: {
      kind: 'either',
      says: 'an expression, or a cost function of an extension',
      text: cel(
        'what a call costs: over args, agent, session, tool and the rest, or with reserve over result and usage',
      ),
      map: {
        kind: 'fields',
        says: 'a cost function of an extension; with reserve it is asked when the call has ended',
        fields: { function: { shape: addedName('its name'), required: true } },
      },
    },
  },
  reserve: { shape: amount('what a call holds whose cost only its result tells') },
  window: { shape: text('over which time; its name says it if it is one of these', { oneOf: windowKinds }) },
  time_zone: {
    shape: text('whose hours and days these are, such as Europe/Berlin; UTC if not given', {
      pattern: ['^[A-Za-z0-9_+/-]{1,64}$', 'the name of a time zone, such as Europe/Berlin'],
    }),
  },
  warn_at: { shape: { kind: 'number', says: 'the share from which on it warns', least: 0, most: 1 } },
  on_exceed: {
    shape: text('what happens beyond it: deny, defer asks a person, audit only tells; deny if not given', {
      oneOf: exceedings,
    }),
  },
  raise: { shape: amount('by how much an approval raises it for the rest of its window; a tenth if not given') },
  approvers: { shape: approvers('the roles that may approve spending beyond it') },
  needs: { shape: count('how many different people must approve; 1 if not given', 1, maxNeeded) },
  expires: { shape: duration('how long it may be approved; 24h if not given, its window at most', 1_000, year) },
};

export const budgetShape: Shape = { kind: 'fields', says: 'how much calls may cost together', fields: budgetFields };

export const sharedBudgetShape: Shape = {
  kind: 'fields',
  says: 'how much the calls of several agents may cost together',
  fields: {
    ...budgetFields,
    agents: { shape: listOf('who shares it; every agent if not given', text('the name of an agent'), 1) },
  },
};

const host = text('a host, *. and a host, an address or a range of addresses; a port if wanted', {
  pattern: [
    '^(?:(?:\\*\\.)?[^\\s:/@?#\\\\\\[\\]*]{1,253}(?:/[0-9]{1,3})?(?::[0-9]{1,5})?|\\[[0-9a-fA-F:.]+(?:/[0-9]{1,3})?\\](?::[0-9]{1,5})?|[0-9a-fA-F:.]+(?:/[0-9]{1,3})?)$',
    'the name of a host, such as api.example.com or *.example.com, or a range such as 10.0.0.0/8',
  ],
});

export const hostList: Field = { shape: listOf('these and no others', host), required: true };

const egress: Shape = {
  kind: 'fields',
  says: 'which hosts its tools may reach',
  fields: {
    allow: hostList,
    urls: {
      shape: named(
        'in which arguments tools are given URLs, by tool; each is judged by the list',
        listOf('paths', text('a path such as args.url or args.items.*.href'), 1, 100),
        ['^\\S{1,256}$', 'the name of a tool such as web/fetch or web/*, at most 256 characters'],
      ),
    },
  },
};

const allow = (says: string, item: Shape): Shape => ({
  kind: 'fields',
  says,
  fields: { allow: { shape: listOf('these and no others', item), required: true } },
});

const requiredName = text('a tool, or an action of its workflow', {
  pattern: ['^[^\\s*]{1,256}$', 'the whole name of a tool or an action, at most 256 characters'],
});

const agentShape: Shape = {
  kind: 'fields',
  says: 'what an agent may do',
  fields: {
    default: { shape: text('what is decided when no rule matches; deny if not given', { oneOf: ruleEffects }) },
    mode: { shape: reachText('how far its sessions may reach at most') },
    rules: { shape: listOf('the first that matches decides', ruleShape, 0, maxRules) },
    model_policy: {
      shape: allow(
        'which models it may be',
        text('a model, with * for anything', { pattern: ['^\\S{1,256}$', 'a name'] }),
      ),
    },
    redact: { shape: listOf('what is masked before it is written or shown', text('a path such as args.card.number')) },
    limits: { shape: listOf('rate limits', limitShape) },
    budgets: { shape: named('budgets by name', budgetShape) },
    egress: { shape: egress },
    completion: {
      shape: {
        kind: 'fields',
        says: 'what must hold before it may say that it is done',
        fields: {
          require: {
            shape: listOf('tools or actions that must have succeeded in the session', requiredName, 1, maxRequired),
          },
          when: { shape: cel('over agent, principal, session, state and now: true makes require count') },
          condition: { shape: cel('over agent, principal, session, state and now: what must be true') },
        },
      },
    },
    approvers: { shape: approvers('the roles that may approve what its rules defer') },
  },
};

export const agentsShape: Shape = named('the agents and what each may do; who is not here may do nothing', agentShape, [
  '^[A-Za-z0-9_.@:-]{1,128}$',
  '1 to 128 letters, digits, _ . @ : or -',
]);
