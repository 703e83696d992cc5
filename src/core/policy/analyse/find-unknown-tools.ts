/** Which rules are for tools that do not exist? Only asked where it is known which tools there are. */
import { nearest } from '../../values/nearest.ts';
import { matchesTool } from '../tool-pattern.ts';
import type { Callable } from './callable.ts';
import type { PolicyFinding } from './policy-analysis.ts';
import type { ReadRule } from './read-rules.ts';

/** For so many rules of an agent the name is looked for that was probably meant. */
const maxHints = 50;

export function findUnknownTools(
  agent: string,
  rules: readonly ReadRule[],
  callables: readonly Callable[],
): readonly PolicyFinding[] {
  const names = [...new Set(callables.map(({ tool }) => tool.name))];
  const known = new Set(names);
  let hintsLeft = maxHints;
  const families = new Set(names.filter((name) => name.includes('/')).map(familyOf));
  return rules.flatMap(({ index, written, pattern }): PolicyFinding[] => {
    if (pattern.isLiteral ? known.has(pattern.text) : names.some((name) => matchesTool(pattern, name))) return [];
    // A list of names may be long, and so may the list of rules.
    const near = hintsLeft-- > 0 ? nearestTo(pattern.text, names) : null;
    const none = pattern.isLiteral ? `there is no tool ${pattern.text}` : `no tool is called ${pattern.text}`;
    const looked = names.length === 0 ? 'there are no tools at all' : `none of ${count(names.length)} matches`;
    return [
      {
        kind: 'unknown_tool',
        // A pattern may be meant for tools to come, and a program may have tools that are in no file.
        severity: pattern.isLiteral && families.has(familyOf(pattern.text)) ? 'error' : 'warning',
        agent,
        rule: index,
        refs: [written.ref],
        message: `${written.effect} ${written.match} is for nothing: ${none}`,
        fix: near === null ? 'correct the name, or pin the tools again with: recourse pin' : `did you mean ${near}?`,
        counterexample: {
          kind: 'name',
          says: near === null ? looked : `${looked}; the nearest is ${near}`,
          nearest: near,
        },
        mayBreak: false,
      },
    ];
  });
}

/** The server or workflow that a name belongs to. */
const familyOf = (name: string): string => name.split('/')[0] ?? '';

const count = (tools: number): string => (tools === 1 ? 'the one tool there is' : `the ${tools} tools there are`);

/** Of a pattern only its first segment can be nearly right. */
function nearestTo(pattern: string, names: readonly string[]): string | null {
  const whole = nearest(pattern, names);
  if (whole !== null || !pattern.includes('*')) return whole;
  const [first = '', ...rest] = pattern.split('/');
  const server = nearest(first, [...new Set(names.map(familyOf))]);
  return server === null || server === first ? null : [server, ...rest].join('/');
}
