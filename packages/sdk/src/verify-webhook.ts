/** Verifies webhook deliveries (SPEC "Delivery and signature"). Uses only Web Crypto, to run everywhere. */
import { SkerryError, WebhookVerificationError } from './errors.ts';
import type { Event } from './types.ts';

export interface VerifyOptions {
  /** Maximum difference between the signature's time and this clock; 300 seconds by default. */
  readonly toleranceS?: number;
  /** The current time in milliseconds since 1970. */
  readonly nowMs?: number;
}

/** The headers of `fetch`, Node, or any framework. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_S = 300;

/**
 * Returns the event if it was signed with the webhook's `secret`, or with its next one, within the last five
 * minutes. Otherwise throws a WebhookVerificationError: respond with 400. `rawBody` is the unparsed body, byte
 * for byte. A body with a valid signature that is not JSON throws a plain SkerryError.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | undefined,
  { toleranceS = TOLERANCE_S, nowMs = Date.now() }: VerifyOptions = {},
): Promise<Event> {
  const utf8 = new TextEncoder();
  const body = typeof rawBody === 'string' ? utf8.encode(rawBody) : toBytes(rawBody);
  if (!secret) throw new SkerryError('secret is empty');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['verify']);
  const isSignedBy = async (header: string | null) => {
    const { t, signature } = parseSignature(header);
    if (Math.abs(Math.floor(nowMs / 1000) - Number(t)) > toleranceS) {
      throw new WebhookVerificationError('The signature is too old, or this clock is wrong.');
    }
    // `verify` compares in constant time.
    return await crypto.subtle.verify('HMAC', key, signature, concat(utf8.encode(`${t}.`), body));
  };
  // While the secret is rotated, the next one signs, too.
  const next = getHeader(headers, 'x-service-signature-next');
  const isGenuine =
    (await isSignedBy(getHeader(headers, 'x-service-signature'))) ||
    (next !== null && (await isSignedBy(next)));
  if (!isGenuine) throw new WebhookVerificationError('The signature does not match the secret and the body.');
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Event;
  } catch (cause) {
    throw new SkerryError('The signature is valid, but the body is not JSON.', { cause });
  }
}

/** Compares tags, because objects of another realm, such as a test's, have another class. */
function toBytes(rawBody: unknown): Uint8Array {
  const tag = Object.prototype.toString.call(rawBody);
  if (tag === '[object Uint8Array]') return rawBody as Uint8Array;
  if (tag === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  throw new SkerryError('rawBody must be a string, Uint8Array, or ArrayBuffer; pass the unparsed body');
}

/** Returns the delivery's ID, which stays the same for all attempts; null if the header is missing. */
export function deliveryId(headers: WebhookHeaders): string | null {
  return getHeader(headers, 'x-service-delivery-id');
}

function getHeader(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name) ?? null;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return [value].flat()[0] ?? null;
}

function parseSignature(header: string | null): {
  readonly t: string;
  readonly signature: Uint8Array<ArrayBuffer>;
} {
  if (header === null) throw new WebhookVerificationError('The header X-Service-Signature is missing.');
  const parts = new Map(header.split(',').map((part) => part.trim().split('=', 2) as [string, string]));
  const t = parts.get('t') ?? '';
  const v1 = parts.get('v1') ?? '';
  if (!/^\d{1,12}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) {
    throw new WebhookVerificationError('The header X-Service-Signature does not have the format t=…,v1=….');
  }
  return { t, signature: Uint8Array.from(v1.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) };
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
}
