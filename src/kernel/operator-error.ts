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
