import { FAILURES, type FailureCode } from '../spec/errors.ts';

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
