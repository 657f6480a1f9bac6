import {
  type FindableResource,
  NOT_FOUND_MESSAGES,
  QUOTA_MESSAGES,
  type Quota,
  REFERENCE_MESSAGES,
  type ReferenceField,
} from '../spec/error-messages.ts';
import { FAILURES, type FailureCode, type V1Issue } from '../spec/errors.ts';
import { parseLabelSelector } from '../spec/label-filters.ts';
import { centsToUsd, formatCents } from './money.ts';

/** Additional members of an error: numbers, bounds, allowed words. Never a secret, never user input. */
export type FailureExtras = Readonly<
  Record<string, string | number | boolean | null | readonly (string | number)[]>
>;

/** A refusal: the request breaks a rule of the service. Any other thrown error is our bug. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly extras: FailureExtras;
  constructor(code: FailureCode, extras: FailureExtras = {}, message: string = FAILURES[code].message) {
    super(message);
    this.name = 'Failure';
    this.code = code;
    this.extras = extras;
  }
}

/**
 * Throws a Failure: `fail('insufficient_balance', { need, have })`. spec/errors.ts defines the
 * response of every interface.
 */
export function fail(code: FailureCode, extras?: FailureExtras, message?: string): never {
  throw new Failure(code, extras, message);
}

/** Throws because the path names a resource that does not exist or belongs to another customer. */
export function notFound(resource: FindableResource): never {
  fail('not_found', {}, NOT_FOUND_MESSAGES[resource]);
}

/** Throws for an id in a body that is no resource of the customer; `field` is its path: `ssh_keys.1`. */
export function unknownReference(field: ReferenceField | `${ReferenceField}.${number}`): never {
  fail(
    'unknown_reference',
    { field },
    `${field}: ${REFERENCE_MESSAGES[field.split('.')[0] as ReferenceField]}`,
  );
}

interface QuotaDetails {
  /** The field at fault. */
  readonly field?: string;
  /** The number in use now. Omitted if only the request exceeds the quota. */
  readonly used?: number;
  /** Appended to the message. */
  readonly more?: string;
}

/** Throws `limit_reached`: the quota would be exceeded. */
export function quotaExceeded(quota: Quota, limit: number, { more, ...extras }: QuotaDetails = {}): never {
  const message = [QUOTA_MESSAGES[quota](limit), ...(more === undefined ? [] : [more])].join(' ');
  fail('limit_reached', { limit, ...extras }, message);
}

/** Refuses one more if `used` has reached the quota. */
export function requireQuota(quota: Quota, limit: number, used: number, details?: QuotaDetails): void {
  if (used >= limit) quotaExceeded(quota, limit, { ...details, used });
}

/** Throws because the customer protected the resource. The message says how to lift the protection. */
export function refuseProtected(member: 'delete' | 'rebuild', message: string): never {
  const field = `protection.${member}`;
  fail('protected', { field }, `${message} Set \`${field}\` to false first.`);
}

/** Throws when the cost exceeds the balance, and states the deficit. */
export function insufficientBalance(haveCents: bigint, needCents: bigint): never {
  const deficitCents = needCents - haveCents;
  const [have, need, deficit] = [haveCents, needCents, deficitCents].map(formatDollars);
  fail(
    'insufficient_balance',
    { have: centsToUsd(haveCents), need: centsToUsd(needCents), deficit: centsToUsd(deficitCents) },
    `Insufficient balance: this costs ${need} and your balance is ${have}. You're short by ${deficit}.`,
  );
}

/** Throws when the price is above the limit that the field sets, or not exactly the price that was shown. */
export function priceChanged(field: 'quote' | 'max_price_usd', priceCents: bigint, isExact = false): never {
  const price = formatDollars(priceCents);
  const limit = field === 'quote' ? 'the price of your quote' : 'the most that you accept';
  fail(
    'price_changed',
    { field, price_usd: centsToUsd(priceCents) },
    isExact
      ? `This costs ${price} now, which is not the price that was shown. Nothing was charged.`
      : `This costs ${price} now, which is more than ${limit}. Nothing was charged.`,
  );
}

function formatDollars(cents: bigint): string {
  return cents < 0n ? `-$${formatCents(-cents)}` : `$${formatCents(cents)}`;
}

/** An invalid field of a request, in the terms of the REST contract. `field` is a dotted path. */
export interface ErrorItem {
  readonly field: string;
  readonly issue: V1Issue;
  /** The bound, or the allowed words. */
  readonly [extra: string]: string | number | readonly (string | number)[] | undefined;
}

/** A malformed request, with every invalid field. */
export class InvalidRequest extends Failure {
  readonly items: readonly ErrorItem[];
  constructor(items: readonly ErrorItem[], message?: string) {
    super('invalid_request', {}, message);
    this.items = items;
  }
}

/** Throws 400 `invalid_request`: `invalidRequest([{ field: 'port', issue: 'invalid_format' }])`. */
export function invalidRequest(items: readonly ErrorItem[], message?: string): never {
  throw new InvalidRequest(items, message);
}

/** Reads a label selector, and refuses a malformed one by its field. */
export function requireLabels(selector: string, field: string): Readonly<Record<string, string>> {
  return (
    parseLabelSelector(selector) ??
    invalidRequest([{ field, issue: 'invalid_format' }], 'Enter pairs of labels such as env=ci,team=web.')
  );
}

/** Thrown when another process holds the lease now. Nothing may be written under the lost lease. */
export class LeaseLost extends Error {}
