/** Parsers for option values. Commander reports what they throw as incorrect usage. */
import { InvalidArgumentError } from 'commander';

/** Parses a whole number from 1 up to what a database integer holds. */
export function parsePositiveInt(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 2_000_000_000) {
    throw new InvalidArgumentError('It must be a whole number of 1 or more.');
  }
  return number;
}

/** Parses a whole number from 0 up to the largest address index. */
export function parseNonNegativeInt(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (number < 0 || number >= 2 ** 31) {
    throw new InvalidArgumentError('It must be a whole number of 0 or more.');
  }
  return number;
}
