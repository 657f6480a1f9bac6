import { OperatorError } from '../../kernel/operator-error.ts';
import { isPrintable } from '../../kernel/printable.ts';

const LINE_MAX_CHARS = 500;

/** What the operator typed for customers to read: one line of it. */
export function requireLine(label: string, text: string): string {
  const line = text.trim();
  if (line !== '' && line.length <= LINE_MAX_CHARS && isPrintable(line)) return line;
  throw new OperatorError(`the ${label} is one line of 1 to ${LINE_MAX_CHARS} printable characters`);
}
