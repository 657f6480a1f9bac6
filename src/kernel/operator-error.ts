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

export const OPERATOR_TEXT = { lineMaxChars: 500, textMaxChars: 5_000 } as const;

/** Checks a line of text that the operator wrote for customers. */
export function requireLine(label: string, text: string): string {
  const line = text.trim();
  if (line !== '' && line.length <= OPERATOR_TEXT.lineMaxChars && isPrintable(line)) return line;
  throw new OperatorError(
    `the ${label} must be one line of 1 to ${OPERATOR_TEXT.lineMaxChars} printable characters`,
  );
}

/** Checks a text of several lines that the operator wrote for customers. */
export function requireText(label: string, text: string): string {
  const lines = text.replaceAll('\r\n', '\n').trim();
  const isText = lines.split('\n').every((line) => line === '' || isPrintable(line));
  if (lines !== '' && lines.length <= OPERATOR_TEXT.textMaxChars && isText) return lines;
  throw new OperatorError(
    `the ${label} must be 1 to ${OPERATOR_TEXT.textMaxChars} printable characters and line breaks`,
  );
}
