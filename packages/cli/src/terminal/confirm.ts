/** Asks before an action that cannot be undone; `--yes` skips the question. */
import { Failure } from '../exit-codes.ts';
import { flag } from '../options.ts';
import { prompt, type Terminal } from './terminal.ts';

/** The option of every destructive command. */
export const YES_OPTION = flag('Skip the confirmation', { short: 'y' });

/**
 * Continues only after a yes. `consequence` completes a sentence: `delete server web-1 and all data on its
 * disk`.
 */
export async function confirm(terminal: Terminal, yes: boolean, consequence: string): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw new Failure('not_confirmed', `this would ${consequence}; pass --yes to confirm`);
  }
  const answer = await prompt(terminal, `This will ${consequence}.\nContinue? [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Failure('not_confirmed', 'canceled; nothing was changed');
}
