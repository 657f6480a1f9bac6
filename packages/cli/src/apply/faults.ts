/** What is wrong with a file, by itself or beside the account. All of it is said at once, and nothing is done. */
import { type ExitName, Failure } from '../exit-codes.ts';

export interface Fault {
  /** `skerry.yaml:12: servers[1].plan` */
  readonly place: string;
  readonly message: string;
  /** The file itself, the state of a thing, or what the service cannot give. */
  readonly exit: Extract<ExitName, 'usage' | 'conflict' | 'refused'>;
}

/** Which of them names the command's exit: the first that there is. */
const EXIT_PRIORITY = ['usage', 'conflict', 'refused'] as const;
/** More would fill the screen, and are mostly one fault many times. */
const SHOWN_MAX = 50;

export function failOnFaults(faults: readonly Fault[]): void {
  const exit = EXIT_PRIORITY.find((one) => faults.some((fault) => fault.exit === one));
  if (exit === undefined) return;
  const lines = faults.slice(0, SHOWN_MAX).map(({ place, message }) => `  ${place}: ${message}`);
  const more = faults.length > SHOWN_MAX ? [`  … and ${faults.length - SHOWN_MAX} more`] : [];
  throw new Failure(exit, ['nothing was done:', ...lines, ...more].join('\n'));
}
