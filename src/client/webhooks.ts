/** The public API of `recourse-gateway/webhooks`: for whoever receives them. Pinned by test/pins/exports.test.ts. */
export { type ReceivedWebhook, type VerifiedWebhook, verifyWebhook } from './verify-webhook.ts';
export type { WebhookEvent, WebhookKind, WebhookMessage } from '../core/http/webhook-message.ts';
