/** All JSON Schemas of what people look at. Part of http-bodies.ts. */
import { consoleAnswerBodies } from '../console/console-bodies.ts';
import type { Ref } from '../reply-schema-fields.ts';
import { approvalLookBodies } from './approval-look-bodies.ts';
import { callLookBodies } from './call-look-bodies.ts';
import { policyLookBodies } from './policy-look-bodies.ts';
import { sessionLookBodies } from './session-look-bodies.ts';

export const lookBodies = (ref: Ref, sessionStatusNames: readonly string[]) => ({
  ...sessionLookBodies(ref, sessionStatusNames),
  ...policyLookBodies(),
  ...approvalLookBodies(),
  ...callLookBodies(ref),
  ...consoleAnswerBodies(),
});
