/** Switches that the operator turns while the service runs. */
import type { Sql } from '../../kernel/sql.ts';
import { SWITCHES, type SwitchName } from '../../spec/settings.ts';
import { findSwitch, saveSwitch } from '../../store/switches.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

export async function isOn(tx: Sql, name: SwitchName): Promise<boolean> {
  return (await findSwitch(tx, name)) ?? SWITCHES[name].default;
}

/** Turns a switch; false when it already stood so. */
export async function turn(
  service: Pick<Service, 'db' | 'clock'>,
  name: SwitchName,
  on: boolean,
): Promise<boolean> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    if ((await isOn(tx, name)) === on) return false;
    await saveSwitch(tx, { name, on, changedAt: now });
    const resource = `${name} ${on ? 'on' : 'off'}`;
    await recordAudit(tx, { actor: systemActor(now), action: 'switch.set', resource }, now);
    return true;
  });
}
