/** `restore`: reads a backup into an empty database, and leaves the service in recovery. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { NO_STORE } from '../../domain/upkeep/backups/plan.ts';
import { restoreBackup } from '../../domain/upkeep/backups/restore.ts';
import { parseIdentities } from '../../kernel/crypt/age.ts';
import { hashFile, undefinedIfMissing } from '../../kernel/files.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { ArchiveSource } from '../../ports/archives.ts';
import type { OperatorContext, OperatorResources } from '../context.ts';
import { formatCount } from '../format/table.ts';

const READ_BYTES = 1024 ** 2;
const IDENTITY_MAX_BYTES = 64 * 1024;

const WITH_MARKS = 'put the newest address-marks of each machine back, then run skerryd recover';
const WITHOUT_MARKS =
  'there are no address-marks of this database that are as new as the backup: put them back and run ' +
  'skerryd recover, or run skerryd recover --skip <count>';

interface RestoreOptions {
  readonly identity: string;
  readonly store?: true;
}

export function addRestore(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('restore')
    .argument('<file>', 'The backup, or its name with --store')
    .option('--store', 'Read it from the store of SKERRY_S3_URL; see backup stored')
    .requiredOption('--identity <file>', 'The age identity of one of its recipients')
    .description('Restore a backup into an empty database; the service then waits for skerryd recover')
    .action(async (file: string, { identity: identityFile, store }: RestoreOptions) => {
      const identities = await readIdentities(identityFile);
      if (!store) await requireIntact(file);
      const identity = resources.identity?.();
      if (identity === undefined) throw new OperatorError('there is no database to restore into');
      const db = await resources.database();
      const content = store
        ? (await requireStore(resources)).read(file)
        : createReadStream(file, { highWaterMark: READ_BYTES });
      const { header, rows, withMarks } = await restoreBackup({ db, content, identities, identity });
      const from = `the backup of ${header.taken_at}, made by release ${header.release}`;
      terminal.out(`restored ${formatCount(rows, 'row', 'rows')} from ${from}`);
      terminal.out(describeRecovery(withMarks));
    });
}

export async function requireStore(resources: OperatorResources): Promise<ArchiveSource> {
  const store = (await resources.archives?.()) ?? null;
  if (store === null) throw new OperatorError(NO_STORE);
  return store;
}

export function describeRecovery(withMarks: boolean): string {
  return `the service is in recovery: ${withMarks ? WITH_MARKS : WITHOUT_MARKS}`;
}

export async function readIdentities(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(undefinedIfMissing);
  if (!found?.isFile() || found.size > IDENTITY_MAX_BYTES)
    throw new OperatorError(`${path}: no such identity file`);
  return parseIdentities(await readFile(path, 'utf8'));
}

/** Compares the SHA-256 next to the file, if there is one, before anything is written. */
async function requireIntact(path: string): Promise<void> {
  if (!(await stat(path).catch(undefinedIfMissing))?.isFile())
    throw new OperatorError(`${path}: no such file`);
  const line = await readFile(`${path}.sha256`, 'utf8').catch(undefinedIfMissing);
  const [expected] = line?.trim().split(/\s+/) ?? [];
  if (expected === undefined || expected === (await hashFile(path))) return;
  throw new OperatorError(`${path} does not have the SHA-256 of ${path}.sha256: copy it again`);
}
