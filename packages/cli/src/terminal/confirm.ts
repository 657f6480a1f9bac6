/** What cannot be taken back is confirmed first, or said with --yes. */
import { Failure } from '../exit-codes.ts';
import { flag } from '../options.ts';
import { ask, type Terminal } from './terminal.ts';

/** The option of every command that destroys. */
export const YES = flag('Do not ask.', { short: 'y' });

/** Goes on only after a yes. `what` ends the sentence: `destroy server web-1 with all that is on its disk`. */
export async function confirm(terminal: Terminal, yes: boolean, what: string): Promise<void> {
  if (yes) return;
  if (!terminal.asks) {
    throw new Failure('not_confirmed', `this would ${what}: say --yes to do that without being asked`);
  }
  const answer = await ask(terminal, `This will ${what}.\nGo on? [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Failure('not_confirmed', 'nothing was done');
}
