import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { commandNames } from './commands.ts';
import { readCommandLine } from './read-command-line.ts';
import { writeHelp } from '../print/write-help.ts';

const read = (line: string) => readCommandLine(line === '' ? [] : line.split(' '));

describe('help and version', () => {
  const asked: readonly (readonly [line: string, topic: string])[] = [
    ['', ''],
    ['--help', ''],
    ['-h', ''],
    ['help', ''],
    ['help calls', 'calls'],
    ['calls --help', 'calls'],
    ['budgets --help', 'budgets'],
    ['help calls ls', 'calls ls'],
    ['calls ls --help', 'calls ls'],
    ['--help audit verify', 'audit verify'],
    ['calls show -h', 'calls show'],
    ['calls ls --limit nonsense --help', 'calls ls'],
  ];
  for (const [line, topic] of asked)
    test(`'recourse ${line}' asks for help on '${topic}'`, () => assert.deepEqual(read(line), { kind: 'help', topic }));

  test('budgets alone lists them, with the options of its ls', () => {
    for (const line of ['budgets', 'budgets ls']) {
      const asked = read(`${line} --agent bot`);
      assert.deepEqual(asked.kind === 'run' && [asked.name, asked.words, asked.said], [
        'budgets ls',
        [],
        { agent: 'bot' },
      ]);
    }
  });

  test('the version', () => {
    for (const line of ['--version', '-v']) assert.deepEqual(read(line), { kind: 'version' });
  });

  test('every command and every group has a help of its own, with an example that can be understood', () => {
    const plain = (_: string, text: string) => text;
    for (const topic of ['', 'calls', 'sessions', 'agents', 'audit', ...commandNames]) {
      const help = writeHelp(topic, plain);
      assert.match(help, new RegExp(`^recourse${topic === '' ? '' : ` ${topic}`}: `));
      for (const line of help.split('\n')) assert.ok(line.length <= 120, line);
      const examples = /^Examples\n((?: {2}.+\n)+)/m.exec(help)?.[1] ?? '';
      for (const [, example = ''] of examples.matchAll(/^ {2}recourse (.+?)(?: &&.*?)? {2}/gm))
        assert.equal(read(example).kind, 'run', example);
    }
  });
});

describe('what is wrong is said, with the nearest word and where to read on', () => {
  const sentences: Readonly<Record<string, string>> = {
    cals: "there is no command 'cals'; did you mean 'call'? Try: recourse --help",
    verify: "there is no command 'verify'; did you mean 'audit verify'? Try: recourse --help",
    prime: "there is no command 'prime'; did you mean 'primer'? Try: recourse --help",
    frobnicate: "there is no command 'frobnicate'. Try: recourse --help",
    'frobnicate --help': "there is no command 'frobnicate'. Try: recourse --help",
    'help cals': "there is no command 'cals'; did you mean 'call'? Try: recourse --help",
    calls: "'calls' needs one more word: ls or in-doubt or show or settle or cancel. Try: recourse calls --help",
    'calls lst': "there is no command 'calls lst'; did you mean 'calls ls'? Try: recourse calls --help",
    'audit ls': "there is no command 'audit ls'. Try: recourse audit --help",
    'calls ls --stat X': 'there is no option --stat; did you mean --state? Try: recourse calls ls --help',
    'audit tail --folow': 'there is no option --folow; did you mean --follow? Try: recourse audit tail --help',
    'calls ls --folow': 'there is no option --folow. Try: recourse calls ls --help',
    'calls ls -x': 'there is no option -x. Try: recourse calls ls --help',
    '--hlep': 'there is no option --hlep; did you mean --help? Try: recourse --help',
    'calls ls --follow': "'calls ls' has no option --follow. Try: recourse calls ls --help",
    '--json': '--json needs a command before it. Try: recourse --help',
    'primer --file x.db': "'primer' has no option --file. Try: recourse primer --help",
    'primer again': "'primer' takes nothing after it, but 'again' is there. Try: recourse primer --help",
    'calls show': "'calls show' takes one call_id, but none is there. Try: recourse calls show --help",
    'calls show a b': "'calls show' takes one call_id, but 2 are there. Try: recourse calls show --help",
    'calls ls --limit': '--limit needs a value: --limit <count>. Try: recourse calls ls --help',
    'calls ls --file --json': '--file needs a value: --file <path>. Try: recourse calls ls --help',
    'calls ls --file=': '--file needs a value: --file <path>. Try: recourse calls ls --help',
    'calls ls --json=yes': '--json takes no value. Try: recourse calls ls --help',
    'calls ls --json --json': '--json is given twice. Try: recourse calls ls --help',
    'calls ls --limit 0': '--limit is a whole number from 1 to 10000. Try: recourse calls ls --help',
    'calls ls --limit 10001': '--limit is a whole number from 1 to 10000. Try: recourse calls ls --help',
    'calls ls --limit 1e3': '--limit is a whole number from 1 to 10000. Try: recourse calls ls --help',
    'audit tail -n -1': '-n needs a value: -n <count>. Try: recourse audit tail --help',
    'audit tail -n x': '--lines is a whole number from 0 to 10000. Try: recourse audit tail --help',
    'sessions diff ses_1':
      "'sessions diff' takes handle seq [seq|handle], but one is there. Try: recourse sessions diff --help",
    'calls settle call_1': "'calls settle' needs --happened <yes|no|unknown>. Try: recourse calls settle --help",
    'calls settle call_1 --happened maybe':
      "--happened is yes or no or unknown, not 'maybe'. Try: recourse calls settle --help",
    'agents add': "'agents add' takes one name, but none is there. Try: recourse agents add --help",
    'agents add bot --role boss':
      "--role is agent or viewer or approver or admin, not 'boss'. Try: recourse agents add --help",
    'serve --mode tools': "'serve' takes one workflow, but none is there. Try: recourse serve --help",
    'calls ls --state in_dubt':
      "no call is ever in the state 'in_dubt'; did you mean IN_DOUBT? Try: recourse calls ls --help",
  };
  for (const [line, sentence] of Object.entries(sentences))
    test(`recourse ${line}`, () => assert.deepEqual(read(line), { kind: 'wrong', sentence }));
});

test('options may stand anywhere, and states in small letters', () => {
  const expected = {
    kind: 'run',
    name: 'calls ls',
    argument: '',
    json: true,
    follow: false,
    file: '-odd.db',
    limit: 5,
    lines: 10,
    filter: { state: 'IN_DOUBT', agent: 'a', tool: 't', session: 's', before: 'call_1' },
  };
  const more = '--agent a --tool t --session s --before call_1';
  assert.partialDeepStrictEqual(read(`calls ls --json --file=-odd.db --limit 5 --state in_doubt ${more}`), expected);
  assert.partialDeepStrictEqual(read(`--json --file=-odd.db --limit=5 calls --state IN_DOUBT ls ${more}`), expected);
});

test('several words after a command are kept in their order, and a last one may be left out', () => {
  const words = (line: string) => {
    const asked = read(line);
    return asked.kind === 'run' ? asked.words : asked.kind;
  };
  assert.deepEqual(words('sessions diff ses_1 2 ses_2'), ['ses_1', '2', 'ses_2']);
  assert.deepEqual(words('sessions diff ses_1 --json 2'), ['ses_1', '2']);
});

test('what follows -- is no option', () => {
  const asked = read('calls show -- --odd');
  assert.equal(asked.kind === 'run' ? asked.argument : asked.kind, '--odd');
});

test('whatever the words are, there is an answer', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('calls', 'ls', 'show', 'audit', 'tail', 'help', '--json', '--limit', '-n', '--', '--file', '-hv'),
  );
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const { kind } = readCommandLine(words);
      assert.ok(['run', 'help', 'version', 'wrong'].includes(kind));
    }),
  );
});
