/** Readers for option values; commander reports what they refuse as misuse. */
import { InvalidArgumentError } from 'commander';

/** A whole number above 0 that the database can hold. */
export function parsePositiveInt(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 2_000_000_000) throw new InvalidArgumentError('Give a whole number above 0.');
  return number;
}

/** 0 or more, as far as addresses are numbered. */
export function parseNonNegativeInt(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (number < 0 || number >= 2 ** 31) throw new InvalidArgumentError('Give a whole number from 0 on.');
  return number;
}
