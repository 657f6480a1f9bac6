import { isPrintable } from './printable.ts';

/**
 * An expected error that only the operator sees: one line with the problem and a remedy. Customers never see
 * it; their errors are in spec/errors.ts.
 */
export class OperatorError extends Error {
  constructor(line: string) {
    super(line);
    this.name = 'OperatorError';
  }
}

const LINE_MAX_CHARS = 500;
const TEXT_MAX_CHARS = 5_000;

/** Checks a line of text that the operator wrote for customers. */
export function requireLine(label: string, text: string): string {
  const line = text.trim();
  if (line !== '' && line.length <= LINE_MAX_CHARS && isPrintable(line)) return line;
  throw new OperatorError(`the ${label} must be one line of 1 to ${LINE_MAX_CHARS} printable characters`);
}

/** Checks a text of several lines that the operator wrote for customers. */
export function requireText(label: string, text: string): string {
  const lines = text.replaceAll('\r\n', '\n').trim();
  const isText = lines.split('\n').every((line) => line === '' || isPrintable(line));
  if (lines !== '' && lines.length <= TEXT_MAX_CHARS && isText) return lines;
  throw new OperatorError(`the ${label} must be 1 to ${TEXT_MAX_CHARS} printable characters and line breaks`);
}
