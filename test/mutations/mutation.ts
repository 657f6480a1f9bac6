/**
 * A mutation is one deliberate fault in the product, and the test that must catch it. `npm run mutations`
 * makes the fault in a copy of the project and expects that test to fail.
 */
import type { TestLevel } from '../../scripts/test-levels.ts';
import type { NamedTest } from './figure.ts';
import type { FigureId } from './figures.ts';

export interface Mutation {
  /** The fault in lowercase words. Unique. */
  readonly name: string;
  /** The path of the file to change. */
  readonly file: string;
  /** Occurs once in that file. */
  readonly find: string;
  readonly replace: string;
  readonly caughtBy: NamedTest;
  /** The tests of the file build on each other, so all of them run. */
  readonly runsWholeFile?: true;
  /** The test fails within this time on an idle machine. */
  readonly budgetS: number;
  /** The figure that does not hold with this fault. */
  readonly figure: FigureId;
  /** The level at which the test runs: `sample` if omitted. */
  readonly level?: TestLevel;
}
