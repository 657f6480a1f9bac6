/** `switch`, `switch NAME on|off`. */
import { Argument, type Command } from 'commander';
import { readSwitches, type SwitchState, setSwitch } from '../domain/switches/switch.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { SWITCH_NAMES, SWITCHES, type SwitchName } from '../spec/switches.ts';
import type { OperatorContext } from './context.ts';

/** Both words for one thing, so that nobody takes one for the other. */
function formatSwitch(name: SwitchName, on: boolean): string {
  if (name !== 'topup-credit') return `${name} ${on ? 'on' : 'off'}`;
  return on ? 'topup-credit on (the kill-switch is off)' : 'topup-credit off (the kill-switch is on)';
}

function formatSwitchLine({ name, on, since, reason }: SwitchState): string {
  // That it stands as it always does needs no date.
  const sinceText = on || since === null ? '' : ` since ${formatSessionTime(since)} UTC`;
  const reasonText = on || reason === null ? '' : ` (${reason})`;
  return `${formatSwitch(name, on)}${sinceText}${reasonText}: ${SWITCHES[name].about}`;
}

const REASON_WITHOUT_STATE = 'a reason goes with turning a switch: skerryd switch NAME on|off --reason …';

export function addSwitch(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('switch')
    .addArgument(new Argument('[name]').choices(SWITCH_NAMES))
    .addArgument(new Argument('[state]').choices(['on', 'off']))
    .option('--reason <text>', 'one line, shown in the list; of deploys, customers who are refused read it')
    .description('print every switch, or turn one; a running service follows at once')
    .action(
      async (
        name: SwitchName | undefined,
        state: 'on' | 'off' | undefined,
        { reason }: { reason?: string },
      ) => {
        if (reason !== undefined && state === undefined) throw new OperatorError(REASON_WITHOUT_STATE);
        const { service } = await resources.service();
        if (name !== undefined && state !== undefined) {
          const changed = await setSwitch(service, name, state === 'on', reason ?? null);
          return terminal.out(`${formatSwitch(name, state === 'on')}${changed ? '' : ' (as before)'}`);
        }
        const all = await readSwitches(service);
        for (const each of all)
          if (name === undefined || each.name === name) terminal.out(formatSwitchLine(each));
      },
    );
}
