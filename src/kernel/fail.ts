import {
  type FindableResource,
  NOT_FOUND_MESSAGES,
  QUOTA_MESSAGES,
  type Quota,
  REFERENCE_MESSAGES,
  type ReferenceField,
} from '../spec/error-messages.ts';
import { FAILURES, type FailureCode, type V1Issue } from '../spec/errors.ts';
import { centsToUsd, formatCents } from './money.ts';

/** Further members of a refusal: numbers, bounds, allowed words. Never a secret, never what the caller typed. */
export type FailureExtras = Readonly<
  Record<string, string | number | boolean | null | readonly (string | number)[]>
>;

/** A refusal by a rule. Everything else that is thrown is a fault of ours. */
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

/** Refuses: `fail('insufficient_balance', { need, have })`. The table of failures says what each surface answers. */
export function fail(code: FailureCode, extras?: FailureExtras, message?: string): never {
  throw new Failure(code, extras, message);
}

/** Refuses what a path names and is not there, or is another customer's. */
export function notFound(resource: FindableResource): never {
  fail('not_found', {}, NOT_FOUND_MESSAGES[resource]);
}

/** Refuses an id in a body that names nothing of the customer's, by its field: `ssh_keys.1`. */
export function unknownReference(field: ReferenceField | `${ReferenceField}.${number}`): never {
  fail(
    'unknown_reference',
    { field },
    `${field}: ${REFERENCE_MESSAGES[field.split('.')[0] as ReferenceField]}`,
  );
}

/** Refuses what would be more than the quota allows; `field` where one is at fault, `more` ends the message. */
export function quotaExceeded(
  quota: Quota,
  limit: number,
  { field, more = '' }: { readonly field?: string; readonly more?: string } = {},
): never {
  const message = `${QUOTA_MESSAGES[quota](limit)}${more === '' ? '' : ` ${more}`}`;
  fail('limit_reached', field === undefined ? { limit } : { field, limit }, message);
}

/** Refuses what costs more than the balance, and says what is missing. */
export function insufficientBalance(haveCents: bigint, needCents: bigint): never {
  const deficitCents = needCents - haveCents;
  const [have, need, deficit] = [haveCents, needCents, deficitCents].map(formatCents);
  fail(
    'insufficient_balance',
    { have: centsToUsd(haveCents), need: centsToUsd(needCents), deficit: centsToUsd(deficitCents) },
    `This costs USD ${need} and the balance is USD ${have}: USD ${deficit} are missing.`,
  );
}

/** One field of a request that is wrong, as the REST contract words it. `field` is a dotted path. */
export interface ErrorItem {
  readonly field: string;
  readonly issue: V1Issue;
  /** The bound, or the words that are allowed. */
  readonly [extra: string]: string | number | readonly (string | number)[] | undefined;
}

/** A request whose shape is wrong: every field at fault is named. */
export class InvalidRequest extends Failure {
  readonly items: readonly ErrorItem[];
  constructor(items: readonly ErrorItem[], message?: string) {
    super('invalid_request', {}, message);
    this.items = items;
  }
}

/** Refuses with 400 `invalid_request`: `invalid([{ field: 'port', issue: 'invalid_format' }])`. */
export function invalidRequest(items: readonly ErrorItem[], message?: string): never {
  throw new InvalidRequest(items, message);
}
