/**
 * A refusal that only the operator sees: one line that says what is wrong and how to mend it. Customers never meet
 * it; what a customer may be told is in the table of failures.
 */
export class OperatorError extends Error {
  constructor(line: string) {
    super(line);
    this.name = 'Refusal';
  }
}
