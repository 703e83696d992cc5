/**
 * Matches schema patterns with RE2, in linear time. Look-around, back-references and repeats beyond 1,000 are refused
 * at compile time. Differences from JavaScript: `\s` is ASCII only, and `.` matches \r and the Unicode line
 * separators.
 */
import { RE2JS } from 're2js';
import type { WorkBudget } from './work-budget.ts';

export interface PatternLimits {
  readonly maxPatternChars: number;
  /** Instructions that all patterns of one schema compile to. */
  readonly maxPatternSize: number;
}

/** What ajv asks of a regular expression engine. */
export interface PatternEngine {
  (pattern: string, flags: string): { test(text: string): boolean };
  code: string;
}

/** JavaScript writes properties by their long names, RE2 by their short ones. */
const shortNames: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Letter_Number: 'Nl',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Control: 'Cc',
};

function toLinearSyntax(pattern: string): string {
  const named = pattern.replace(
    /\\([pP])\{(?:(?:General_Category|gc|Script|sc|Script_Extensions|scx)=)?(\w+)\}/g,
    (_, sign: string, name: string) => `\\${sign}{${Object.hasOwn(shortNames, name) ? shortNames[name] : name}}`,
  );
  return RE2JS.translateRegExp(named);
}

/** One engine for one schema: its patterns share a size and, in each check, a number of steps. */
export function createPatternEngine(limits: PatternLimits, budget: WorkBudget): PatternEngine {
  let sizeLeft = limits.maxPatternSize;
  const engine = (pattern: string) => {
    if (pattern.length > limits.maxPatternChars) {
      throw new Error(`a pattern is longer than ${limits.maxPatternChars} characters`);
    }
    const compiled = compilePattern(pattern);
    const size = compiled.programSize();
    sizeLeft -= size;
    if (sizeLeft < 0) throw new Error(`pattern ${short(pattern)} makes the patterns too large: shorten its repeats`);
    return {
      test(text: string): boolean {
        budget.patternSteps -= size * text.length;
        if (budget.patternSteps < 0) throw budget.exhausted;
        return compiled.test(text);
      },
      // ajv keeps compiled patterns by this text.
      toString: () => pattern,
    };
  };
  return Object.assign(engine, { code: 'linearPattern' });
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(toLinearSyntax(pattern));
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unreadable';
    throw new Error(`pattern ${short(pattern)} cannot be matched in linear time (${detail})`, { cause: error });
  }
}

function short(pattern: string): string {
  return pattern.length <= 60 ? pattern : `${pattern.slice(0, 59)}…`;
}
