/** `switch`, `switch NAME on|off`. */
import { Argument, type Command } from 'commander';
import { isOn, turn } from '../domain/switches/switch.ts';
import { SWITCH_NAMES, SWITCHES, type SwitchName } from '../spec/settings.ts';
import type { OperatorContext } from './context.ts';

/** Both words for one thing, so that nobody takes one for the other. */
function words(name: SwitchName, on: boolean): string {
  if (name !== 'topup-credit') return `${name} ${on ? 'on' : 'off'}`;
  return on ? 'topup-credit on (the kill-switch is off)' : 'topup-credit off (the kill-switch is on)';
}

export function addSwitch(program: Command, { doors, terminal }: OperatorContext): void {
  program
    .command('switch')
    .addArgument(new Argument('[name]').choices(SWITCH_NAMES))
    .addArgument(new Argument('[state]').choices(['on', 'off']))
    .description('print every switch, or turn one; a running service follows at once')
    .action(async (name: SwitchName | undefined, state: 'on' | 'off' | undefined) => {
      const { service } = await doors.service();
      if (name !== undefined && state !== undefined) {
        const changed = await turn(service, name, state === 'on');
        return terminal.out(`${words(name, state === 'on')}${changed ? '' : ' (as before)'}`);
      }
      for (const each of name === undefined ? SWITCH_NAMES : [name]) {
        terminal.out(`${words(each, await isOn(service.db, each))}: ${SWITCHES[each].about}`);
      }
    });
}
