/** Feature switches that the operator sets at run time. */

import { requireLine } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { isServiceSwitch, SWITCH_NAMES, SWITCHES, type SwitchName } from '../../spec/switches.ts';
import {
  findSwitch,
  incrementRulesVersion,
  listSwitches,
  type SwitchRow,
  saveSwitch,
} from '../../store/service/rules.ts';
import { saveCalendarTime } from '../../store/service/service.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/** Reads a switch. Workers call this for every batch. Request handlers use the cached rules instead. */
export async function isSwitchOn(tx: Sql, name: SwitchName): Promise<boolean> {
  return (await findSwitch(tx, name))?.on_ ?? SWITCHES[name].default;
}

/** The state of a switch; `since` is null if it was never set. */
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
 * Sets a switch; returns false if nothing changed. Every process follows with its next request and its next
 * batch of work. `reason` is one line; customers see the reason of `deploys`.
 */
export async function setSwitch(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  name: SwitchName,
  on: boolean,
  reason: string | null = null,
): Promise<boolean> {
  const line = reason === null ? null : requireLine('reason', reason);
  const changed = await service.db.transaction(async (tx) => {
    // Every process caches the rules that requests read: what is blocked, and what is published.
    const isRule = SWITCHES[name].blockedOperations.length > 0 || !isServiceSwitch(name);
    if (isRule) await incrementRulesVersion(tx);
    const before = toSwitchState(name, await findSwitch(tx, name));
    if (before.on === on && (line === null || before.reason === line)) return false;
    const now = service.clock.now();
    // A new reason alone does not change the time.
    const changed_at = before.on === on ? (before.since ?? now) : now;
    await saveSwitch(tx, { name, on_: on, reason: line, changed_at });
    const resource = `${name} ${on ? 'on' : 'off'}`;
    await recordAudit(tx, { actor: systemActor(now), action: 'switch.set', resource }, now);
    // Staff have seen that the time leapt (billing/leap.ts).
    if (name === 'renewals' && on) await saveCalendarTime(tx, now);
    return true;
  });
  if (changed && on) service.wake();
  return changed;
}

/** Turns a switch off in a transaction of the service's own. Returns false if it was off. */
export async function switchOff(tx: Sql, name: SwitchName, reason: string, now: Date): Promise<boolean> {
  if ((await findSwitch(tx, name))?.on_ === false) return false;
  await saveSwitch(tx, { name, on_: false, reason, changed_at: now });
  await recordAudit(tx, { actor: systemActor(now), action: 'switch.set', resource: `${name} off` }, now);
  return true;
}

function toSwitchState(name: SwitchName, row: SwitchRow | undefined): SwitchState {
  return {
    name,
    on: row?.on_ ?? SWITCHES[name].default,
    since: row?.changed_at ?? null,
    reason: row?.reason ?? null,
  };
}
