/** Limits on the size of a policy and on the memory of judging, with their defaults. */
export interface PatternLimits {
  readonly maxPatternChars: number;
  readonly maxPatternSegments: number;
  /** `*` and `**` in one pattern. */
  readonly maxPatternStars: number;
}

export interface PolicyLimits extends PatternLimits {
  readonly maxAgents: number;
  readonly maxRulesPerAgent: number;
  /** Of all agents together. */
  readonly maxRules: number;
  /** Globs over models, of one agent. */
  readonly maxModels: number;
  /** Entries of an egress allow list, of one agent. */
  readonly maxHosts: number;
  /** Paths to mask, of one agent. */
  readonly maxRedactPaths: number;
  readonly maxRedactSteps: number;
  /** Values nested deeper than this are masked as a whole wherever a path could still reach into them. */
  readonly maxMaskDepth: number;
  /** Problems that are told at once. */
  readonly maxProblems: number;
  /** Names of tools whose rules are kept ready; rules of others are looked up each time. */
  readonly maxKeptTools: number;
  /** Looks that one explanation lists. */
  readonly maxLooks: number;
}

export const defaultPatternLimits: PatternLimits = {
  maxPatternChars: 256,
  maxPatternSegments: 16,
  maxPatternStars: 16,
};

export const defaultPolicyLimits: PolicyLimits = {
  ...defaultPatternLimits,
  maxAgents: 1_000,
  maxRulesPerAgent: 20_000,
  maxRules: 100_000,
  maxModels: 200,
  maxHosts: 1_000,
  maxRedactPaths: 200,
  maxRedactSteps: 32,
  maxMaskDepth: 256,
  maxProblems: 200,
  maxKeptTools: 4_096,
  maxLooks: 1_000,
};
