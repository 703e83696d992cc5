/**
 * Policies written in many ways: block and flow style, comments, blank lines, all sorts of quotes, several files. What
 * is drawn is a policy and its layout; what comes out are the texts of the files. The main one is recourse.yaml.
 */
import fc, { type GeneratorValue } from 'fast-check';

export interface DrawnRule {
  readonly effect: string;
  readonly tools: string | readonly string[];
  readonly when: string | null;
  readonly reason: string | null;
}

export const drawnTools = ['shop/get_x', 'shop/pay', 'files/read', 'a/b/c', 'x'];
const patterns = ['shop/get_*', 'shop/**', '**', '*/read', 'a/b/c', 'x', '*'];
const conditions = [
  'true',
  'false',
  'args.amount < 500',
  `args.note == "it's # 1: [x]"`,
  "agent.name == 'clerk' || args.list.size() > 3",
  'tool.effect == "pure" && !(args.ok)',
];
const reasons = ['ask finance', 'no # comment: really', `"quoted" and it's`, 'größer als 500 €'];

const effects = ['permit', 'defer', 'deny'];
const pattern = fc.constantFrom(...patterns);

const aRule: fc.Arbitrary<DrawnRule> = fc.record({
  effect: fc.constantFrom(...effects),
  tools: fc.oneof(
    { weight: 3, arbitrary: pattern },
    { weight: 1, arbitrary: fc.array(pattern, { minLength: 1, maxLength: 3 }) },
  ),
  when: fc.option(fc.constantFrom(...conditions), { freq: 2 }),
  reason: fc.option(fc.constantFrom(...reasons), { freq: 2 }),
});

const anAgent = fc.record({
  default: fc.option(fc.constantFrom(...effects)),
  mode: fc.option(fc.constantFrom('read_only', 'network', 'destructive')),
  models: fc.option(fc.array(fc.constantFrom('claude-*', 'gpt-5'), { maxLength: 2 })),
  rules: fc.option(fc.array(aRule, { maxLength: 6 }), { freq: 5 }),
});

type DrawnAgent = typeof anAgent extends fc.Arbitrary<infer One> ? One : never;

/** File by file, agents by name. */
const somePolicies = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('clerk', 'support-bot', 'ops.night', '007', 'ann@example.com'),
    file: fc.nat(2),
    agent: anAgent,
  }),
  { selector: ({ name }) => name, maxLength: 5 },
);

const fileNames = ['recourse.yaml', 'more.yaml', 'parts/last.yaml'];

export function drawFiles(g: GeneratorValue): ReadonlyMap<string, string> {
  const drawn = g(() => somePolicies);
  const write = new Writer(g);
  const files = new Map<string, string>();
  for (const [at, name] of fileNames.entries()) {
    const agents = drawn.filter(({ file }) => file === at);
    if (at > 0 && agents.length === 0) continue;
    files.set(name, write.file(agents));
  }
  const others = [...files.keys()].slice(1);
  if (others.length === 0) return files;
  const include = write.chance()
    ? `include: [${others.join(', ')}]`
    : ['include:', ...others.map((each) => `- ./${each}`)].join('\n');
  const main = files.get('recourse.yaml') ?? '';
  return files.set('recourse.yaml', write.chance() ? `${include}\n${main}` : `${main}\n${include}\n`);
}

class Writer {
  readonly #g: GeneratorValue;

  constructor(g: GeneratorValue) {
    this.#g = g;
  }

  chance(): boolean {
    return this.#g(fc.boolean);
  }

  #among<One>(choices: readonly One[]): One {
    return choices[this.#g(fc.nat, choices.length - 1)] as One;
  }

  file(agents: readonly { readonly name: string; readonly agent: DrawnAgent }[]): string {
    const lines = ['agents:', ...agents.flatMap(({ name, agent }) => this.#agent(name, agent))];
    if (agents.length === 0) lines.splice(0, 1, this.chance() ? 'agents: {}' : '# nobody');
    const end = this.#among(['\n', '\r\n']);
    return lines.flatMap((line) => [...this.#noise(), line]).join(end) + end;
  }

  /** Only between lines, and never where a text goes on: those carry their breaks inside. */
  #noise(): readonly string[] {
    return this.#among([[], [], [], [''], ['# a comment: with - signs {'], ['', '      # deny: everything', '']]);
  }

  #agent(name: string, { default: effect, mode, models, rules }: DrawnAgent): readonly string[] {
    const key = `${this.#key(name)}:`;
    if (this.#g(fc.nat, 4) === 0) {
      const parts = [
        ...(effect === null ? [] : [`default: ${this.#inFlow(effect)}`]),
        ...(mode === null ? [] : [`mode: ${mode}`]),
        ...(rules === null ? [] : [`rules: [${rules.map((rule) => this.#flowRule(rule)).join(', ')}]`]),
        ...(models === null ? [] : [`model_policy: { allow: ${JSON.stringify(models)} }`]),
      ];
      return [`  ${key} { ${parts.join(', ')} }`];
    }
    const parts = [
      ...(effect === null ? [] : [[`    default: ${this.#scalar(effect)}`]]),
      ...(mode === null ? [] : [[`    mode: ${this.#scalar(mode)}`]]),
      ...(rules === null ? [] : [this.#rules(rules)]),
      ...(models === null ? [] : [[`    model_policy: { allow: ${JSON.stringify(models)} }`]]),
    ];
    if (parts.length === 0) return [`  ${key} {}`];
    return [`  ${key}`, ...(this.chance() ? parts : parts.toReversed()).flat()];
  }

  #rules(rules: readonly DrawnRule[]): readonly string[] {
    if (rules.length === 0) return ['    rules: []'];
    const style = this.#g(fc.nat, 5);
    const inFlow = () => rules.map((rule) => this.#flowRule(rule));
    if (style === 0) return [`    rules: [${inFlow().join(', ')}]`];
    if (style === 1) return [`    rules: [`, ...inFlow().map((rule) => `      ${rule},`), '    ]'];
    return ['    rules:', ...rules.flatMap((rule) => this.#blockRule(rule))];
  }

  #flowRule({ effect, tools, when, reason }: DrawnRule): string {
    const parts = [
      `${effect}: ${typeof tools === 'string' ? this.#inFlow(tools) : JSON.stringify(tools)}`,
      ...(when === null ? [] : [`when: ${this.#inFlow(when)}`]),
      ...(reason === null ? [] : [`"reason": ${this.#inFlow(reason)}`]),
    ];
    return `{ ${(this.chance() ? parts : parts.toReversed()).join(', ')} }`;
  }

  #blockRule(rule: DrawnRule): readonly string[] {
    if (this.#g(fc.nat, 3) === 0) return [`      - ${this.#flowRule(rule)}`];
    const { effect, tools, when, reason } = rule;
    const parts = [
      this.#entry(effect, tools),
      ...(when === null ? [] : [this.#entry('when', when)]),
      ...(reason === null ? [] : [this.#entry('reason', reason)]),
    ];
    const [first = '', ...rest] = this.chance() ? parts : parts.toReversed();
    const dash = this.#among(['      - ', '      -\n        ', '      -   # a comment\n        ']);
    return [`${dash}${first}`, ...rest.map((part) => `        ${part}`)];
  }

  #entry(key: string, value: string | readonly string[]): string {
    if (typeof value !== 'string')
      return this.chance()
        ? `${key}: ${JSON.stringify(value)}`
        : `${key}:\n${value.map((each) => `          - ${this.#scalar(each)}`).join('\n')}`;
    const style = this.#g(fc.nat, 4);
    if (style === 0) return `${key}: |-\n          ${value}`;
    if (style === 1) return `${key}: >-\n          ${value.replaceAll(' ', '\n          ')}`;
    if (style === 2) return `${key}:\n          ${this.#scalar(value)}`;
    return `${key}: ${this.#scalar(value)}`;
  }

  /** Plain only where YAML lets it be. */
  #scalar(value: string): string {
    const plain = /^[a-z][\w/.*<> ]*$/i.test(value) ? [value] : [];
    return this.#among([...plain, JSON.stringify(value), `'${value.replaceAll("'", "''")}'`]);
  }

  #inFlow(value: string): string {
    return this.#scalar(value);
  }

  #key(name: string): string {
    return this.#among([...(/^[a-z]/.test(name) ? [name] : []), JSON.stringify(name)]);
  }
}
