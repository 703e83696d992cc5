/**
 * Two other policy engines over the same rules: `@cedar-policy/cedar-wasm` with its policies parsed beforehand, and
 * `@microsoft/agent-governance-sdk`, which has two ways in. Each answers whether the call is allowed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A tool that is permitted, with a limit to its `amount` or without. */
export interface BenchRule {
  readonly tool: string;
  readonly below: number | null;
}

export interface BenchCall {
  readonly tool: string;
  readonly amount: number;
}

export type Engine = (call: BenchCall) => boolean;

const home = fileURLToPath(new URL('./peers/', import.meta.url));
const peers = ['@cedar-policy/cedar-wasm', '@microsoft/agent-governance-sdk'];

/** Installed in a folder of its own, when it is first measured. */
function load(name: string): unknown {
  if (!peers.every((peer) => existsSync(path.join(home, 'node_modules', peer)))) {
    process.stderr.write(`installing ${peers.join(', ')} into bench/peers …\n`);
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund'], { cwd: home, stdio: 'inherit' });
  }
  return createRequire(path.join(home, 'package.json'))(name);
}

interface Cedar {
  preparsePolicySet(id: string, policies: { readonly staticPolicies: string }): { readonly type: string };
  statefulIsAuthorized(call: object): { readonly type: string; readonly response?: { readonly decision: string } };
}

/** One policy per rule, the tool as the action, the arguments as the context; parsed once. */
export function cedarOf(rules: readonly BenchRule[]): Engine {
  const cedar = load('@cedar-policy/cedar-wasm/nodejs') as Cedar;
  const staticPolicies = rules
    .map(({ tool, below }) => {
      const when = below === null ? '' : ` when { context.amount < ${below} }`;
      return `permit(principal, action == Action::"${tool}", resource)${when};`;
    })
    .join('\n');
  const id = `bench-${rules.length}`;
  if (cedar.preparsePolicySet(id, { staticPolicies }).type !== 'success') throw new Error('cedar refuses the policies');
  return ({ tool, amount }) => {
    const answer = cedar.statefulIsAuthorized({
      preparsedPolicySetId: id,
      principal: { type: 'Agent', id: 'clerk' },
      action: { type: 'Action', id: tool },
      resource: { type: 'Tool', id: tool },
      context: { amount },
      entities: [],
    });
    return answer.response?.decision === 'allow';
  };
}

interface Governance {
  readonly PolicyEngine: new (rules?: readonly object[]) => {
    loadPolicy(policy: object): void;
    evaluatePolicy(agent: string, context: object): { readonly allowed: boolean };
    evaluate(action: string, context: object): string;
  };
}

/** Its policy documents: conditions are texts, looked at again for each call. */
export function governanceOf(rules: readonly BenchRule[]): Engine {
  const { PolicyEngine } = load('@microsoft/agent-governance-sdk') as Governance;
  const engine = new PolicyEngine();
  engine.loadPolicy({
    apiVersion: 'governance.toolkit/v1',
    name: 'bench',
    scope: 'global',
    default_action: 'deny',
    rules: rules.map(({ tool, below }, index) => ({
      name: `rule-${index}`,
      condition: `tool == '${tool}'${below === null ? '' : ` and args.amount < ${below}`}`,
      ruleAction: 'allow',
      priority: rules.length - index,
    })),
  });
  return ({ tool, amount }) => engine.evaluatePolicy('clerk', { tool, args: { amount } }).allowed;
}

/** Its flat rules, the quicker way: the first match wins, and a condition can only say that a field equals a value. */
export function flatGovernanceOf(rules: readonly BenchRule[], amount: number): Engine {
  const { PolicyEngine } = load('@microsoft/agent-governance-sdk') as Governance;
  const engine = new PolicyEngine(
    rules.map(({ tool, below }) => ({
      action: tool,
      effect: 'allow',
      ...(below === null ? {} : { condition: { amount } }),
    })),
  );
  return (call) => engine.evaluate(call.tool, { amount: call.amount }) === 'allow';
}
