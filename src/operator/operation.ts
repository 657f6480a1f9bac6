import { InvalidArgumentError } from 'commander';
import { closestMatch } from '../kernel/closest-match.ts';
import { isOperation, OPERATIONS, type Operation } from '../spec/operations.ts';

/** Parses the name of a REST operation. For an unknown one, commander reports the closest match. */
export function parseOperation(text: string): Operation {
  if (isOperation(text)) return text;
  const suggestion = closestMatch(text, OPERATIONS);
  throw new InvalidArgumentError(
    suggestion ? `Did you mean ${suggestion}?` : 'It must be an operation id, such as servers.create.',
  );
}
