/** `backup`: writes an encrypted backup of the database, and lists those that are recorded. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { Service } from '../../domain/context.ts';
import { auditBackup, performBackup, recordBackup, runAlone } from '../../domain/upkeep/backups/perform.ts';
import { type BackupPlan, NO_STORE } from '../../domain/upkeep/backups/plan.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import type { ArchiveStore } from '../../ports/archives.ts';
import { type BackupRow, listBackups } from '../../store/service/backups.ts';
import { type OperatorContext, ProblemsFound } from '../context.ts';
import { parsePositiveInt } from '../options.ts';
import { requireStore } from './restore.ts';

const LIMIT = 30;
/** Longer than the lease of a process that was killed. */
const WAIT_MS = 12_000;
const POLL_MS = 500;
const NO_RECIPIENTS =
  'SKERRY_BACKUP_RECIPIENTS is not set: enter a public key of age-keygen, whose identity can read the backup';

interface CreateOptions {
  readonly to?: string;
  readonly store?: true;
  readonly verify?: true;
}

export function addBackup(program: Command, context: OperatorContext): void {
  const backup = program.command('backup').description('Back up the database, encrypted');
  addCreate(backup, context);
  addList(backup, context);
  addStored(backup, context);
}

function addCreate(backup: Command, { resources, terminal }: OperatorContext): void {
  backup
    .command('create', { isDefault: true })
    .description('Write a backup now, while the service runs; without options as the schedule does')
    .option('--to <folder>', 'Write to this folder')
    .addOption(new Option('--store', 'Write to the store of SKERRY_S3_URL').conflicts('to'))
    .option('--verify', 'Verify it as SKERRY_BACKUP_VERIFY says; scheduled backups are verified once a day')
    .action(async (options: CreateOptions) => {
      const { service } = await resources.service();
      const plan = service.backups;
      if (plan === undefined) throw new OperatorError(NO_RECIPIENTS);
      const { target, isScheduled } = chooseTarget(plan, options);
      const perform = isScheduled ? recordBackup : performBackup;
      const prove = isScheduled || options.verify === true;
      const row = await waitToRun(service, () => perform(service, { plan, target, prove }));
      await auditBackup(service, row);
      report(row, terminal.out);
      if (row.failure === null) return;
      terminal.err(`skerryd: the backup failed: ${row.failure}`);
      throw new ProblemsFound();
    });
}

async function waitToRun(service: Service, work: () => Promise<BackupRow>): Promise<BackupRow> {
  const rows: BackupRow[] = [];
  for (const until = performance.now() + WAIT_MS; ; await pause(POLL_MS)) {
    await runAlone(service, async () => void rows.push(await work()));
    const [row] = rows;
    if (row !== undefined) return row;
    if (performance.now() > until)
      throw new OperatorError('a backup is under way: wait until skerryd backup list shows it');
  }
}

function chooseTarget(
  plan: BackupPlan,
  { to, store }: CreateOptions,
): { readonly target: ArchiveStore; readonly isScheduled: boolean } {
  if (to !== undefined) return { target: plan.openFolder(to), isScheduled: false };
  if (store !== undefined) {
    if (plan.store === null) throw new OperatorError(NO_STORE);
    return { target: plan.store, isScheduled: false };
  }
  if (plan.target === null)
    throw new OperatorError('SKERRY_BACKUP_TO is not set: set it, or use --to <folder>');
  return { target: plan.target, isScheduled: true };
}

function report(
  { name, size_bytes: bytes, sha256, verified_at: verifiedAt }: BackupRow,
  out: (line: string) => void,
) {
  if (name === null) return;
  out(`wrote ${name}`);
  out(`${bytes} bytes, SHA-256 ${sha256}`);
  if (verifiedAt !== null) out('verified: read back, and restored if SKERRY_BACKUP_VERIFY says so');
}

function addList(backup: Command, { resources, terminal }: OperatorContext): void {
  backup
    .command('list')
    .description('List the scheduled backups, newest first')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .action(async ({ limit }: { readonly limit: number }) => {
      const { service } = await resources.service();
      const rows = await listBackups(service.db, limit);
      terminal.table(
        ['time (UTC)', 'result', 'verified (UTC)', 'bytes', 'SHA-256', 'file'],
        rows.map((row) => [
          formatSessionTime(row.started_at),
          row.failure ?? 'OK',
          row.verified_at === null ? '' : formatSessionTime(row.verified_at),
          String(row.size_bytes ?? ''),
          row.sha256 ?? '',
          row.name ?? '',
        ]),
      );
    });
}

function addStored(backup: Command, { resources, terminal }: OperatorContext): void {
  backup
    .command('stored')
    .description('List the backups in the store of SKERRY_S3_URL, newest first; needs no database')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .action(async ({ limit }: { readonly limit: number }) => {
      const rows = await (await requireStore(resources)).list();
      terminal.table(
        ['time (UTC)', 'bytes', 'name'],
        rows
          .slice(0, limit)
          .map(({ name, sizeBytes, changedAt }) => [formatSessionTime(changedAt), String(sizeBytes), name]),
      );
    });
}
