/** A reliability figure, and the tests that prove it. */
import type { TestLevel } from '../../scripts/test-levels.ts';

export interface NamedTest {
  /** The path of a test file in the project. */
  readonly file: string;
  /** A part of the title as the file writes it, without expressions. */
  readonly name: string;
}

export interface Figure {
  readonly title: string;
  /** The attack on the service, and how often it runs. */
  readonly what: string;
  /** The promise that holds after it. */
  readonly holds: string;
  readonly tests: readonly NamedTest[];
  /** The lowest level that reaches the whole figure. */
  readonly whole: TestLevel;
  /** The part that lower levels try. */
  readonly below?: string;
}
