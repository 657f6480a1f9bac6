import { InvalidArgumentError } from 'commander';
import { closestMatch } from '../kernel/closest-match.ts';
import { isOperation, OPERATIONS, type Operation } from '../spec/operations.ts';

/** Reads the name of a REST operation; commander reports an unknown one, with the nearest there is, as misuse. */
export function parseOperation(text: string): Operation {
  if (isOperation(text)) return text;
  const suggestion = closestMatch(text, OPERATIONS);
  throw new InvalidArgumentError(
    suggestion ? `Did you mean ${suggestion}?` : 'It is the id of a REST operation, such as servers.create.',
  );
}
