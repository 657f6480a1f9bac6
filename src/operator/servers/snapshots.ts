/** `snapshots copy` and `snapshots copies`: copies of snapshots in the store of files. */
import type { Command } from 'commander';
import { copyExisting, readCopyCounts } from '../../domain/snapshots/copies/read.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { OperatorContext } from '../context.ts';

const MB = 1_000_000n;

export function addSnapshots(program: Command, { resources, terminal }: OperatorContext): void {
  const snapshots = program.command('snapshots').description('Copy snapshots of servers to the file store');
  snapshots
    .command('copy')
    .description('Copy all snapshots and backups that were not yet, to the store of SKERRY_S3_URL')
    .action(async () => {
      const { service } = await resources.service();
      if (service.blobs.copies === undefined)
        throw new OperatorError('SKERRY_S3_URL is not set: there is no store to copy snapshots to');
      const requested = await copyExisting(service);
      terminal.out(`${requested} snapshots queued; the service copies them, one at a time from each host`);
    });
  snapshots
    .command('copies')
    .description('Count the copies in the file store, and those that wait')
    .action(async () => {
      const { service } = await resources.service();
      const { stored, bytes, waiting, late, failing, deleting, fault } = await readCopyCounts(service);
      const heading = ['stored', 'mb', 'waiting', 'late', 'failing', 'deleting', 'a fault'];
      const counts = [stored, bytes / MB, waiting, late, failing, deleting].map(String);
      terminal.table(heading, [[...counts, fault ?? '']]);
    });
}
