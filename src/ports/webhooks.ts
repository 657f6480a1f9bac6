/** A webhook request to send. */
export interface WebhookRequest {
  /** https, as the customer entered it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why there was no response. Shown to the customer: no addresses and no text from the receiver. */
export const SEND_FAULTS = [
  'timeout',
  'dns',
  'forbidden address',
  'connection refused',
  'unreachable',
  'connection reset',
  'tls',
  'invalid answer',
  'failed',
] as const;
export type SendFault = (typeof SEND_FAULTS)[number];

export type WebhookResponse = { readonly status: number } | { readonly fault: SendFault };

export interface WebhookSender {
  /**
   * Sends one POST without redirects, within the timeout. Returns the status once it arrived, even if the
   * body then fails, or the fault. Rejects if the cause is ours (out of sockets) or `close` aborted it: then
   * the outcome is unknown.
   */
  send(request: WebhookRequest): Promise<WebhookResponse>;
  /** Aborts requests in flight. */
  close(): Promise<void>;
}
