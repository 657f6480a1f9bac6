/** Switches that the operator turns while the service runs. */
import type { Sql } from '../../kernel/sql.ts';
import { SWITCH_NAMES, SWITCHES, type SwitchName } from '../../spec/switches.ts';
import { incrementRulesVersion } from '../../store/rules.ts';
import { findSwitch, listSwitches, type SwitchRow, saveSwitch } from '../../store/switches.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireLine } from '../rules/line.ts';

/** A duty asks each time it looks for work; whoever answers requests asks the rules, which hold what switches close. */
export async function isSwitchOn(tx: Sql, name: SwitchName): Promise<boolean> {
  return (await findSwitch(tx, name))?.on_ ?? SWITCHES[name].default;
}

/** A switch as it stands; `since` is null when it was never touched. */
export interface SwitchState {
  readonly name: SwitchName;
  readonly on: boolean;
  readonly since: Date | null;
  readonly reason: string | null;
}

export async function readSwitches(service: Pick<Service, 'db'>): Promise<SwitchState[]> {
  const rows = new Map((await listSwitches(service.db)).map((row) => [row.name, row]));
  return SWITCH_NAMES.map((name) => toSwitchState(name, rows.get(name)));
}

/**
 * Turns a switch; false when it already stood so, for the same reason. Every process follows with its next request and
 * its next look for work. `reason` is one line; of `deploys` refused customers read it.
 */
export async function setSwitch(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  name: SwitchName,
  on: boolean,
  reason: string | null = null,
): Promise<boolean> {
  const line = reason === null ? null : requireLine('reason', reason);
  const changed = await service.db.transaction(async (tx) => {
    // Requests are refused by the rules, which every process holds.
    if (SWITCHES[name].blockedOperations.length > 0) await incrementRulesVersion(tx);
    const before = toSwitchState(name, await findSwitch(tx, name));
    if (before.on === on && (line === null || before.reason === line)) return false;
    const now = service.clock.now();
    // A new reason alone does not say that it was turned again.
    const changed_at = before.on === on ? (before.since ?? now) : now;
    await saveSwitch(tx, { name, on_: on, reason: line, changed_at });
    const resource = `${name} ${on ? 'on' : 'off'}`;
    await recordAudit(tx, { actor: systemActor(now), action: 'switch.set', resource }, now);
    return true;
  });
  if (changed && on) service.wake();
  return changed;
}

function toSwitchState(name: SwitchName, row: SwitchRow | undefined): SwitchState {
  return {
    name,
    on: row?.on_ ?? SWITCHES[name].default,
    since: row?.changed_at ?? null,
    reason: row?.reason ?? null,
  };
}
