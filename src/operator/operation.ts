import { InvalidArgumentError } from 'commander';
import { nearest } from '../kernel/nearest.ts';
import { isOperation, OPERATIONS, type Operation } from '../spec/operations.ts';

/** Reads the name of a REST operation; commander reports an unknown one, with the nearest there is, as misuse. */
export function readOperation(text: string): Operation {
  if (isOperation(text)) return text;
  const meant = nearest(text, OPERATIONS);
  throw new InvalidArgumentError(
    meant ? `Did you mean ${meant}?` : 'It is the id of a REST operation, such as servers.create.',
  );
}
