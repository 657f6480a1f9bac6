/** What cannot be taken back is confirmed first, or said with --yes. */
import { Failure } from '../exit-codes.ts';
import { flag } from '../options.ts';
import { prompt, type Terminal } from './terminal.ts';

/** The option of every command that destroys. */
export const YES_OPTION = flag('Do not ask.', { short: 'y' });

/** Goes on only after a yes. `what` ends the sentence: `destroy server web-1 with all that is on its disk`. */
export async function confirm(terminal: Terminal, yes: boolean, consequence: string): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw new Failure('not_confirmed', `this would ${consequence}: say --yes to do that without being asked`);
  }
  const answer = await prompt(terminal, `This will ${consequence}.\nGo on? [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Failure('not_confirmed', 'nothing was done');
}
