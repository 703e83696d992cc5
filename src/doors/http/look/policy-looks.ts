/** Routes for people who look at the policy: its files with what is wrong in them, what each rule decided, its limits. */
import { operatorTenant } from '../../../core/call/identity.ts';
import { type Answer, type Asked, json, refuse } from '../answer.ts';

/** All tenants share the files, so only people of the operator's tenant see them. */
export async function readPolicyFile({ parts, who }: Asked): Promise<Answer> {
  if (who.tenant !== operatorTenant)
    return refuse('RoleForbidden', `the files of the policy are shown to people of the tenant '${operatorTenant}'`);
  return json(await parts.policyFile());
}

export async function readPolicyCoverage({ parts, who }: Asked): Promise<Answer> {
  return json(await parts.looks.coverage(who.tenant));
}

export async function listLimits({ parts, who }: Asked): Promise<Answer> {
  return json({ limits: await parts.looks.limits(who.tenant) });
}
