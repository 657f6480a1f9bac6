/** Parsers for option values. Commander reports what they throw as incorrect usage. */
import { InvalidArgumentError } from 'commander';
import { closestMatch } from '../kernel/closest-match.ts';
import { isOperation, OPERATIONS, type Operation } from '../spec/operations.ts';

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

/** Parses the name of a REST operation. For an unknown one, commander reports the closest match. */
export function parseOperation(text: string): Operation {
  if (isOperation(text)) return text;
  const suggestion = closestMatch(text, OPERATIONS);
  throw new InvalidArgumentError(
    suggestion ? `Did you mean ${suggestion}?` : 'It must be an operation id, such as servers.create.',
  );
}
