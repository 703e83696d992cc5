/**
 * Texts that somebody could find in a folder as recourse.yaml, included files and recourse.lock: good ones, broken
 * ones, noise.
 */
import { anyCharacter } from './any-character.ts';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';

export interface ConfigTexts {
  readonly main: string;
  readonly included: string;
  readonly lock: string | null;
}

const main = `include: [./more.yaml]
runtime: { mode: audit, cold_start_grace: 5s, listen: "127.0.0.1:7411", limits: { max_in_flight: 10 } }
tools:
  shop:
    mcp: { command: shop, args: [-y], env: { KEY: "\${TOKEN}" } }
    annotations: trust
    tools: { "get_*": { effect: pure, reach: read_only }, pay: { effect: keyed, dedupe_window: 20h }, export: { reports_within: 10m } }
agents:
  clerk:
    default: deny
    mode: network
    rules:
      - permit: shop/get_*
      - permit: [shop/pay, "desk/**"]
        when: agent.name == "clerk" && size(args) < 3
      - defer: shop/refund
        approvers: [finance]
        expires: 2h
        on_approve: run
        needs: 2
        client_may_approve: true
      - deny: "**"
        when: |
          has(args.force) &&
            args.force
        reason: platform team only
    limits: [{ match: "shop/*", rate: 10/minute }]
    budgets: { daily: { max: 500 USD, cost: args.amount, window: daily, warn_at: 0.8, on_exceed: defer } }
    egress: { allow: [api.example.com] }
    model_policy: { allow: ["claude-*"] }
    redact: [args.card, "result.**.email"]
    completion: { require: [tests], when: session.seq > 0, condition: "state == null || size(state.value) > 0" }
    approvers: [finance]
workflows:
  desk:
    version: "1"
    context: { total: 0 }
    initial: open
    actions:
      ask: { input: { type: object, properties: { n: { type: number } } }, update: { total: context.total + inputs.n } }
      pay: { tool: shop/pay }
    states:
      open: { on: { ask: open, pay: { target: paid, guard: context.total > 0 } }, after: { 30m: paid } }
      paid: { type: final }
`;

const included = `agents:
  ops: { default: permit, rules: [&r { deny: shop/pay }, *r] }
roles: { finance: [ann, bob] }
credentials: { v: { vault: { address: http://127.0.0.1:8200, path: secret/data/x, field: k, token: t }, match: [shop/pay], inject: { header: X-Key } } }
notify: { ops: { webhook: "https://x/y", events: [POLICY_DENY, POLICY_DEFER], secret: 0123456789abcdef, format: slack, link: "https://x/{approval_id}" } }
playbook: { server_error_5xx: escalate_to_human }
`;

const lock = `{
  "servers": {
    "shop": {
      "tools": {
        "pay": {
          "annotations": { "readOnlyHint": false },
          "inputSchema": { "additionalProperties": false, "properties": { "amount": { "type": "number" }, "force": { "type": "boolean" } }, "type": "object" },
          "sha256": "${'0'.repeat(64)}"
        }
      }
    }
  },
  "version": 1
}
`;

export const goodTexts: ConfigTexts = { main, included, lock };

/** Smaller ones are read sooner, so that more of them are tried. */
const small = `include: [./more.yaml]
agents:
  clerk:
    rules:
      - permit: [shop/get_*, x]
        when: args.amount < 500
      - { deny: "**", reason: no }
`;
const desk = `workflows:${main.split('workflows:')[1]?.replace('{ tool: shop/pay }', '{}') ?? ''}`;

/** Words that mean something here, so that what is drawn comes further than the first key. */
const words = [...new Set(`${main}${included}${lock}`.match(/[\w*./-]+/g))];
const signs = [
  '*',
  '**',
  '&a',
  '*a',
  '{',
  '}',
  '[',
  ']',
  ':',
  '- ',
  '? ',
  '|',
  '>',
  '#',
  '"',
  "'",
  '!!js',
  '%',
  '@',
  '---',
  '...',
  '<<: ',
  '\t',
  '\r',
  '\n',
  '\0',
  '\u2028',
  '\ufeff',
  '\ud800',
  '${X}',
  '0x10',
  '1e999',
  '.inf',
  '~',
  '__proto__',
];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  { weight: 2, arbitrary: fc.constantFrom(...signs) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: anyCharacter }) },
);

const { value: structure } = fc.letrec<{ value: unknown; map: unknown; list: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 6 },
    word,
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e21, ''),
    tie('map'),
    tie('list'),
  ),
  map: fc.dictionary(fc.constantFrom(...words), tie('value'), { maxKeys: 6 }),
  list: fc.array(tie('value'), { maxLength: 4 }),
}));

/** A part of a good text is replaced by something else of the right or the wrong sort. */
const transplanted = (text: string) =>
  fc
    .array(fc.record({ at: fc.nat(), value: structure, how: fc.constantFrom('replace', 'remove', 'add') }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      const whole = parse(text) as unknown;
      for (const { at, value, how } of changes) {
        const places = placesIn(whole);
        const [around, key] = places[at % places.length] ?? [{}, ''];
        if (how === 'remove') delete around[key];
        else around[how === 'add' ? (words[at % words.length] ?? 'x') : key] = value;
      }
      return whole;
    });

type Around = Record<string | number, unknown>;

function placesIn(value: unknown): readonly (readonly [Around, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  const around = value as Around;
  return Object.entries(around).flatMap(([key, child]) => [[around, key] as const, ...placesIn(child)]);
}

/** Lines and characters are dropped, doubled, moved and replaced. */
const scratched = (text: string) =>
  fc
    .array(
      fc.record({
        at: fc.nat(),
        length: fc.nat(12),
        what: fc.constantFrom('drop', 'double', 'put', 'indent'),
        put: word,
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) => {
      let next = text;
      for (const { at, length, what, put } of changes) {
        const from = at % (next.length + 1);
        const [before, cut, after] = [next.slice(0, from), next.slice(from, from + length), next.slice(from + length)];
        if (what === 'drop') next = before + after;
        else if (what === 'double') next = before + cut + cut + after;
        else if (what === 'put') next = before + put + after;
        else
          next = `${before.slice(0, before.lastIndexOf('\n') + 1)}  ${before.slice(before.lastIndexOf('\n') + 1)}${cut}${after}`;
      }
      return next;
    });

const written = (value: unknown) => stringify(value, { aliasDuplicateObjects: false });

/** `good` is how often it is left as it is, beside nine times that it is not. */
const variantsOf = (text: string, write: (value: unknown) => string, good = 2) =>
  fc.oneof(
    { weight: good, arbitrary: fc.constant(text) },
    { weight: 3, arbitrary: transplanted(text).map(write) },
    { weight: 3, arbitrary: scratched(text) },
    { weight: 1, arbitrary: structure.map(write) },
    { weight: 1, arbitrary: fc.array(word, { maxLength: 40 }).map((some) => some.join(' ')) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 100 }) },
  );

export const configTexts: fc.Arbitrary<ConfigTexts> = fc.record({
  main: fc.oneof(
    { weight: 2, arbitrary: variantsOf(main, written) },
    { weight: 3, arbitrary: variantsOf(small, written) },
    { weight: 1, arbitrary: variantsOf(desk, written) },
  ),
  included: variantsOf(included, written, 20),
  lock: fc.option(
    variantsOf(lock, (value) => JSON.stringify(value), 20),
    { freq: 4 },
  ),
});
