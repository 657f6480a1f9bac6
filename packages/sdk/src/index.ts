/** The Skerry SDK for JavaScript and TypeScript. */
export { Skerry } from './client.ts';
export {
  ActionFailedError,
  ApiError,
  ConnectionError,
  type ErrorCode,
  type ErrorItem,
  isApiError,
  mayPass,
  SkerryError,
  type SkerryErrorOptions,
  TimeoutError,
  WaitError,
  WaitTimeoutError,
  WebhookVerificationError,
} from './errors.ts';
export type { Page, Pages } from './pages.ts';
export type { StreamedEvent, StreamOptions } from './resources/events.ts';
export type { Removal } from './resources/resource.ts';
export type { components, operations, paths } from './schema.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type * from './types.ts';
export { deliveryId, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';
export type { Waitable, WaitOptions } from './wait-for.ts';
export type { ActionWaitOptions } from './wait-for-action.ts';
