/** Power actions and boots: one idempotent statement each, with $1 the machine and $2 the time. */
import type { Sql } from '../../../kernel/sql.ts';
import type { PowerAction } from '../../../ports/compute.ts';

/** Duration of a guest's shutdown in seconds of business time. */
const SHUTDOWN_S = 2;
/** How long the on and off times of machines are stored. */
export const HISTORY_DAYS = 31;

const IS_OFF = 'off_at <= $2::timestamptz';
/** An install pauses while the machine is off or runs the rescue system, and then resumes. */
const RESUMED_INSTALL_END = `$2::timestamptz
  + (install_ends_at - coalesce(least(rescue_at, case when ${IS_OFF} then off_at end), $2::timestamptz))`;

/** Returns the assignments of any boot. Both arguments are SQL expressions. */
export function bootAssignments(values: { rescueAt: string; installEndsAt: string }): string {
  return `off_at = null, booted_at = $2::timestamptz, rescue_at = ${values.rescueAt},
    install_ends_at = ${values.installEndsAt},
    on_since = case when ${IS_OFF} then $2::timestamptz else on_since end,
    was_on = case when ${IS_OFF}
      then (was_on + tstzmultirange(tstzrange(least(on_since, off_at), off_at)))
        * tstzmultirange(tstzrange($2::timestamptz - interval '${HISTORY_DAYS + 1} days', null))
      else was_on end`;
}

const DISK_BOOT =
  `${bootAssignments({ rescueAt: 'null', installEndsAt: RESUMED_INSTALL_END })}, ` +
  'rescue_password_sha256 = null';

const POWER: Record<PowerAction, string> = {
  on: `update sim.machines set ${DISK_BOOT} where id = $1 and ${IS_OFF}`,
  off: 'update sim.machines set off_at = $2 where id = $1 and (off_at is null or off_at > $2)',
  // Only a running guest reacts. A repeated request does not delay the shutdown.
  acpi: `update sim.machines set off_at = $2::timestamptz + make_interval(secs => ${SHUTDOWN_S})
         where id = $1 and off_at is null
           and (rescue_at is not null or install_ends_at <= $2::timestamptz and not deaf)`,
  reset: `update sim.machines set ${DISK_BOOT}
          where id = $1 and (off_at is null or off_at > $2::timestamptz)`,
};

export async function applyPowerAction(sql: Sql, id: string, action: PowerAction, now: Date): Promise<void> {
  await sql.run(POWER[action], [id, now]);
}

/** Does nothing if the machine already runs the rescue system with this password. */
export async function bootRescue(sql: Sql, id: string, passwordSha256: string, now: Date): Promise<void> {
  await sql.run(
    `update sim.machines
     set ${bootAssignments({ rescueAt: '$2::timestamptz', installEndsAt: RESUMED_INSTALL_END })},
         rescue_password_sha256 = $3
     where id = $1 and (rescue_at is null or ${IS_OFF} or rescue_password_sha256 is distinct from $3)`,
    [id, now, passwordSha256],
  );
}
