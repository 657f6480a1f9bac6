import { OperatorError } from '../../kernel/operator-error.ts';
import { isPrintable } from '../../kernel/printable.ts';

const LINE_MAX_CHARS = 500;

/** Checks a line of text that the operator wrote for customers. */
export function requireLine(label: string, text: string): string {
  const line = text.trim();
  if (line !== '' && line.length <= LINE_MAX_CHARS && isPrintable(line)) return line;
  throw new OperatorError(`the ${label} must be one line of 1 to ${LINE_MAX_CHARS} printable characters`);
}
