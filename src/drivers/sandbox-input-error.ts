/** An invalid input to the sandbox. `field` names it. */
export class SandboxInputError extends Error {
  override readonly name = 'SandboxInputError';
  readonly field: string;
  /** The valid values of the field, if it has a list of them. */
  readonly allowed?: readonly string[];

  constructor(field: string, message: string, allowed?: readonly string[]) {
    super(message);
    this.field = field;
    if (allowed) this.allowed = allowed;
  }
}
