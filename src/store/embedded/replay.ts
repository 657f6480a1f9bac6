/**
 * Point-in-time recovery of the embedded database: how PostgreSQL replays the log over files that a restore
 * placed (place.ts). The file `restoring` exists meanwhile: after a kill, no service starts on a database
 * that is half restored, and a repetition starts over.
 */
import { join } from 'node:path';
import { quote } from './archiving.ts';
import { exists } from './files.ts';
import type { Home } from './home.ts';

/** PostgreSQL stops when a restore command exits with more than 125. */
const FATAL_STATUS = 200;

/** Throws if a restore was interrupted. */
export async function requireWhole(home: Home): Promise<void> {
  if (!(await exists(markerOf(home)))) return;
  throw new Error(
    `a restore into ${home.dataDir} has not finished: run skerryd restore-to again, ` +
      `or move ${home.folder} away to start with no database`,
  );
}

/** Settings of PostgreSQL while it replays; `until` null: to the last change in the archive. */
export function replaySettings(home: Home, until: Date | null): Readonly<Record<string, string>> {
  const file = `${quote(segmentsOf(home)).replaceAll('%', '%%')}/%f`;
  return {
    archive_mode: 'off',
    // With it, the server would count as ready before it has replayed the log.
    hot_standby: 'off',
    // A missing file ends the log. Any other failure must not look like that.
    restore_command: `test -e ${file} || exit 1; cp ${file} %p || exit ${FATAL_STATUS}`,
    // Segments of another timeline belong to an earlier restore.
    recovery_target_timeline: 'current',
    ...(until === null
      ? {}
      : { recovery_target_time: until.toISOString().replace('T', ' ').replace('Z', '+00') }),
    recovery_target_action: 'promote',
  };
}

/** Exists until a restore is complete. */
export function markerOf(home: Home): string {
  return join(home.folder, 'restoring');
}

/** Where the segments are that PostgreSQL replays. */
export function segmentsOf(home: Home): string {
  return join(home.folder, 'wal-replay');
}
