/** Problems of a file, alone or with the account. All are reported at once, and nothing is changed. */
import { type ExitName, Failure } from '../exit-codes.ts';

export interface Fault {
  /** `skerry.yaml:12: servers[1].plan` */
  readonly place: string;
  readonly message: string;
  /**
   * The kind of problem: the file itself, a resource's state, or something that the service cannot provide.
   */
  readonly exit: Extract<ExitName, 'usage' | 'conflict' | 'refused'>;
}

/** The first of these that occurs determines the exit code. */
const EXIT_PRIORITY = ['usage', 'conflict', 'refused'] as const;
/** More would fill the screen, and are mostly the same problem. */
const SHOWN_MAX = 50;

export function failOnFaults(faults: readonly Fault[]): void {
  const exit = EXIT_PRIORITY.find((one) => faults.some((fault) => fault.exit === one));
  if (exit === undefined) return;
  const lines = faults.slice(0, SHOWN_MAX).map(({ place, message }) => `  ${place}: ${message}`);
  const more = faults.length > SHOWN_MAX ? [`  … and ${faults.length - SHOWN_MAX} more`] : [];
  throw new Failure(exit, ['nothing was changed:', ...lines, ...more].join('\n'));
}
