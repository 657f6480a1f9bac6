import { FAILURES, type FailureCode, type V1Issue } from '../spec/errors.ts';

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
export function invalid(items: readonly ErrorItem[], message?: string): never {
  throw new InvalidRequest(items, message);
}
