/** `restore-to` and `mark-restored`: a database as it was at any second, not only at a backup. */
import type { Command } from 'commander';
import { markNow, restoreTo } from '../../domain/upkeep/wal/restore.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { OperatorContext, OperatorResources, StoredWal } from '../context.ts';
import { parseTime } from '../options.ts';
import { describeRecovery, readIdentities } from './restore.ts';

const LATEST = 'latest';

interface RestoreToOptions {
  readonly from?: string;
  readonly store?: true;
  readonly identity: string;
  readonly database?: string;
  readonly baseBefore?: Date;
}

export function addRestoreTo(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('restore-to')
    .argument('<time>', 'The time in UTC, such as 2026-12-01T22:00:00Z, or latest', parseTarget)
    .option('--from <folder>', 'The folder of SKERRY_BACKUP_TO')
    .option('--store', 'Read it from the store of SKERRY_S3_URL')
    .requiredOption('--identity <file>', 'The age identity of one of its recipients')
    .option(
      '--base-before <time>',
      'Use a base from before this time, if the newest cannot be replayed',
      parseTime,
    )
    .option('--database <id>', 'Which database, if there are several')
    .description('Restore the embedded database to a point in time; the service then waits for recover')
    .action(async (until: Date | null, options: RestoreToOptions) => {
      const identities = await readIdentities(options.identity);
      const identity = requireIdentity(resources);
      const archives = await findArchives(resources, options);
      const tell = (line: string) => terminal.out(line);
      const { baseBefore = null } = options;
      const restoring = { archives, until, baseBefore, identities, identity, tell };
      const { at, withMarks } = await restoreTo(restoring);
      const change = at === null ? '' : `; its last change is of ${formatRfc3339(at)}`;
      terminal.out(`restored the database${change}`);
      terminal.out(describeRecovery(withMarks));
    });
}

/** Null means the last change in the archive. */
function parseTarget(text: string): Date | null {
  return text === LATEST ? null : parseTime(text);
}

async function findArchives(resources: OperatorResources, options: RestoreToOptions) {
  const { from = null, store = false, database } = options;
  if ((from === null) !== store) throw new OperatorError('--from: set a folder, or --store instead');
  const place = from ?? 'the store';
  const found = (await resources.walArchives?.(from)) ?? [];
  if (found.length === 0) throw new OperatorError(`${place} has no base for point-in-time recovery`);
  const ids = [...new Set(found.map((each: StoredWal) => each.database))];
  const wanted = database ?? (ids.length === 1 ? ids[0] : undefined);
  if (wanted === undefined) throw new OperatorError(`--database: choose one of ${ids.join(', ')}`);
  if (!ids.includes(wanted)) throw new OperatorError(`--database: ${place} has only ${ids.join(', ')}`);
  return found.filter((each) => each.database === wanted).map(({ archive }) => archive);
}

function requireIdentity(resources: OperatorResources) {
  const identity = resources.identity?.();
  if (identity === undefined) throw new OperatorError('there is no database to restore into');
  return identity;
}

export function addMarkRestored(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('mark-restored')
    .argument('<time>', 'What the database is as of, in UTC, such as 2026-12-01T22:00:00Z', parseTime)
    .description(
      "Put a database that PostgreSQL's own tools restored into recovery, before the service starts",
    )
    .action(async (asOf: Date) => {
      if (asOf.getTime() > Date.now()) throw new OperatorError('the time is in the future');
      const identity = requireIdentity(resources);
      const withMarks = await markNow(await resources.database(), identity, asOf);
      terminal.out(describeRecovery(withMarks));
    });
}
