/** `switch`, `switch NAME on|off`. */
import { Argument, type Command } from 'commander';
import { readSwitches, type SwitchState, setSwitch } from '../domain/rules/switches.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { SWITCH_NAMES, SWITCHES, type SwitchName } from '../spec/switches.ts';
import type { OperatorContext } from './context.ts';

/** The kill-switch is on when topup-credit is off, so print both states. */
function formatSwitch(name: SwitchName, on: boolean): string {
  if (name !== 'topup-credit') return `${name} ${on ? 'on' : 'off'}`;
  return on ? 'topup-credit on (the kill-switch is off)' : 'topup-credit off (the kill-switch is on)';
}

function formatSwitchLine({ name, on, since, reason }: SwitchState): string {
  // "On" is the normal state and needs no date.
  const sinceText = on || since === null ? '' : ` since ${formatSessionTime(since)} UTC`;
  const reasonText = on || reason === null ? '' : ` (${reason})`;
  return `${formatSwitch(name, on)}${sinceText}${reasonText}: ${SWITCHES[name].about}`;
}

const REASON_WITHOUT_STATE = '--reason needs a new state: skerryd switch NAME on|off --reason …';

export function addSwitch(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('switch')
    .addArgument(new Argument('[name]', 'Switch to show or to set; all if omitted').choices(SWITCH_NAMES))
    .addArgument(new Argument('[state]', 'Whether to allow (`on`) or stop (`off`) it').choices(['on', 'off']))
    .option(
      '--reason <text>',
      'One line that `skerryd switch` shows; the reason of `deploys` is also shown to customers',
    )
    .description('List all switches, or turn one on (the normal state) or off; takes effect immediately')
    .action(
      async (
        name: SwitchName | undefined,
        state: 'on' | 'off' | undefined,
        { reason }: { reason?: string },
      ) => {
        if (reason !== undefined && state === undefined) throw new OperatorError(REASON_WITHOUT_STATE);
        const { service } = await resources.service();
        if (name !== undefined && state !== undefined) {
          const changed = await recordCommandOn(service, 'switches.set', { kind: 'switch', name }, () =>
            setSwitch(service, name, state === 'on', reason ?? null),
          );
          return terminal.out(`${formatSwitch(name, state === 'on')}${changed ? '' : ' (unchanged)'}`);
        }
        const all = await readSwitches(service);
        for (const each of all)
          if (name === undefined || each.name === name) terminal.out(formatSwitchLine(each));
      },
    );
}
