/** Shape of the section agents. Data only; read-policy.ts checks what the parts mean together. */
import { reaches, ruleEffects } from '../../core/policy/policy.ts';
import { cel, count, duration, flag, type Field, listOf, named, nameKey, type Shape, text } from './shape.ts';

const year = 366 * 86_400_000;
/** Rules of one agent in a file; a decision looks only at those that could match. */
const maxRules = 10_000;
/** The most people that one approval may need. */
const maxNeeded = 20;
const maxRequired = 100;

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

const limit: Shape = {
  kind: 'fields',
  says: 'how often tools may be called',
  fields: {
    match: { shape: toolPattern, required: true },
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

const budget: Shape = {
  kind: 'fields',
  says: 'how much calls may cost together',
  fields: {
    max: {
      shape: text('an amount such as 500 USD', {
        pattern: ['^[0-9]{1,12}(?:\\.[0-9]{1,6})? [A-Z]{3}$', 'an amount and a currency, such as 500 USD'],
      }),
      required: true,
    },
    cost: {
      shape: cel('over args, agent, principal, session, state, tool, model, host and now: what a call costs'),
      required: true,
    },
    window: { shape: text('over which time', { oneOf: ['hourly', 'daily', 'weekly', 'monthly'] }) },
    warn_at: { shape: { kind: 'number', says: 'the share from which on it warns', least: 0, most: 1 } },
    on_exceed: { shape: text('what happens beyond it', { oneOf: ['deny', 'defer'] }) },
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
    limits: { shape: listOf('rate limits', limit) },
    budgets: { shape: named('budgets by name', budget) },
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
