/** Parsers for option values. Commander reports what they throw as incorrect usage. */
import { InvalidArgumentError } from 'commander';
import { closestMatch } from '../kernel/closest-match.ts';
import { parseRfc3339 } from '../kernel/time.ts';
import { OPERATIONS, type Operation } from '../spec/operations.ts';
import { ABUSE_LIMITS } from '../spec/staff/abuse.ts';
import { COUPON_LIMITS } from '../spec/staff/coupons.ts';
import { FLOOD_LIMITS } from '../spec/staff/floods.ts';

/** Parses a whole number from 1 up to what a database integer holds. */
export const parsePositiveInt = wholeNumber(1, 2_000_000_000);

/** Parses a whole number from 0 up to the largest address index. */
export const parseNonNegativeInt = wholeNumber(0, 2 ** 31 - 1);

/** Parses how many servers of a host move at a time. */
export const parseConcurrency = wholeNumber(1, 32);

/** Parses how many customers can use a coupon. */
export const parseCouponUses = wholeNumber(1, COUPON_LIMITS.usesMax);

/** Parses the age of an account in days. */
export const parseAccountDays = wholeNumber(1, COUPON_LIMITS.accountDaysMax);

/** Parses how long a customer has to answer a report of abuse. */
export const parseDeadlineHours = wholeNumber(1, ABUSE_LIMITS.deadlineMaxHours);

/** Parses how long packets are dropped. */
export const parseBlackholeMinutes = wholeNumber(1, FLOOD_LIMITS.manualMaxMinutes);

/** Parses memory or disk space, or 0 for none. */
export const parseReserve = wholeNumber(0, 2_000_000_000);

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    if (number >= min && number <= max) return number;
    const range = max < 1_000 ? `from ${min} to ${max}` : `of ${min} or more`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** Parses a point in time. */
export function parseTime(text: string): Date {
  const time = parseRfc3339(text);
  if (time) return time;
  throw new InvalidArgumentError('It must be an RFC 3339 time, such as 2026-12-01T22:00:00Z.');
}

/** Parses the name of a REST operation. For an unknown one, commander reports the closest match. */
export function parseOperation(text: string): Operation {
  return parseWord(text, OPERATIONS, 'an operation id, such as servers.create');
}

/** `expected` describes the words if none of them is close. */
export function parseWord<Word extends string>(text: string, words: readonly Word[], expected: string): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  const suggestion = closestMatch(text, words);
  throw new InvalidArgumentError(suggestion ? `Did you mean ${suggestion}?` : `It must be ${expected}.`);
}
