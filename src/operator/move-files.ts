/** `images move`: moves customers' images from the disk of this machine to the store of files. */
import type { Command } from 'commander';
import { type MovedFile, moveFiles } from '../domain/images/store.ts';
import { formatId } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { BlobStoreError } from '../ports/blobs.ts';
import type { OperatorContext } from './context.ts';

const MB = 1_000_000;

export function addMoveFiles(images: Command, { resources, terminal }: OperatorContext): void {
  images
    .command('move')
    .description('Move the files of customers’ images from this machine to the store of SKERRY_S3_URL')
    .action(async () => {
      const { service } = await resources.service();
      if (service.blobs.earlier === undefined)
        throw new OperatorError('SKERRY_S3_URL is not set: there is no store to move files to');
      const counts = { moved: 0, unknown: 0, damaged: 0 };
      try {
        for await (const file of moveFiles(service)) {
          counts[file.outcome] += 1;
          terminal.out(describe(file));
        }
      } catch (error) {
        if (!(error instanceof BlobStoreError)) throw error;
        throw new OperatorError(`${error.message}. Run the command again: it continues where it stopped`);
      }
      terminal.out(`${counts.moved} moved, ${counts.unknown} unknown, ${counts.damaged} damaged`);
      if (counts.damaged > 0) throw new OperatorError('damaged files were left on this machine');
    });
}

function describe({ key, outcome, sizeBytes, sentBytes, message }: MovedFile): string {
  const id = formatId('customImage', key);
  if (outcome === 'unknown') return `${id}: no image has this file, so it stays`;
  if (outcome === 'damaged') return `${id}: ${message}`;
  const [size, sent] = [sizeBytes, sentBytes].map((bytes) => Math.ceil(bytes / MB));
  return `${id}: moved ${size} MB, of which ${sent} MB were sent now`;
}
