/** Compares the backup policy of a server with the file. */
import type { ActualBackups } from '../backups.ts';
import type { BackupSettings, DesiredBackups, WantedServer } from '../desired.ts';
import type { Action } from './plan.ts';

interface BackupChange {
  readonly actions: readonly Action[];
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
}

const NOTHING: BackupChange = { actions: [], reasons: [], notes: [] };

/**
 * `resizes`: the server gets another plan in the same run. Its price is quoted with the backups that it has
 * now, so they are turned on or off only afterwards.
 */
export function changeBackups(
  { name, backups }: WantedServer,
  id: string,
  found: ActualBackups | undefined,
  resizes: boolean,
): BackupChange {
  if (!backups || !found) return NOTHING;
  const policy = mergeBackups(backups, found);
  const [before, after] = [describe(found), describe(policy)];
  if (before === after) return NOTHING;
  const turned = policy.enabled === found.enabled ? null : policy.enabled ? 'on' : 'off';
  if (resizes && turned) {
    const note = `backups of server ${name} are turned ${turned} by the next run, after the resize`;
    return { ...NOTHING, notes: [note] };
  }
  const returns = turned === 'off' && found.price_usd_cycle > 0;
  const comesBack = 'the price of backups for the rest of the cycle comes back to the balance';
  return {
    actions: [{ do: 'set_backups', id, policy }],
    reasons: [`backups: ${before} → ${after}`, ...(returns ? [comesBack] : [])],
    notes: [],
  };
}

/** Members that the file omits keep their value. */
export function mergeBackups(wanted: DesiredBackups, found: BackupSettings): BackupSettings {
  const { enabled = true, every = found.every, hour_utc = found.hour_utc, keep = found.keep } = wanted;
  const weekday = every === 'day' ? null : (wanted.weekday ?? found.weekday);
  return { enabled, every, weekday, hour_utc, keep };
}

function describe({ enabled, every, weekday, hour_utc, keep }: BackupSettings): string {
  const hour = `${String(hour_utc).padStart(2, '0')}:00 UTC`;
  const schedule = `every ${weekday ?? every} at ${hour}, keep ${keep}`;
  return enabled ? schedule : `off (${schedule})`;
}
