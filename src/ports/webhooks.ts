/** What is asked of whoever sends to receivers of webhooks. */
export interface WebhookRequest {
  /** https, as the customer gave it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why there was no answer. It is shown to the customer: no address, no text of the other side. */
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
   * One POST, without redirects, that ends within the time-out: the status line that came, whatever became of the rest, or
   * why none came. Rejects where the fault is our own (no sockets left) or `close` cut it: then nothing is known.
   */
  send(request: WebhookRequest): Promise<WebhookResponse>;
  /** Cuts what is under way. */
  close(): Promise<void>;
}
