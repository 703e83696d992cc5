/** The HTTP route by which people see what an approval is about. Part of the table in http-routes.ts. Data only. */
import { type HttpRoute } from '../http-route.ts';

export const approvalLookRoutes = {
  readApprovalContext: {
    method: 'GET',
    path: '/v1/approvals/{id}/context',
    needs: 'look',
    summary:
      'What deciding an approval does, the last such call, and the reads that it relies on; with `evidence=again` whether these still say the same, which sends them again and only an approver may ask for.',
    query: { evidence: { kind: 'choice', of: ['again'] } },
    body: null,
    answer: 'ApprovalContext',
  },
} as const satisfies Record<string, HttpRoute>;
