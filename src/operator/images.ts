/** `images import`, `images list`, `images custom`. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { getBaseImages, type ImportedBaseImage, importBaseImage } from '../domain/images/base-images.ts';
import { readDistribution } from '../domain/images/distribute.ts';
import { type CustomImageQuery, listCustomImageObjects } from '../domain/staff/images.ts';
import { formatId } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { addImageEdits } from './catalogue-edits.ts';
import type { OperatorContext } from './context.ts';
import { formatMoreHint } from './format/table.ts';
import { addMoveFiles } from './move-files.ts';
import { parsePositiveInt } from './options.ts';

interface ImportOptions {
  readonly image?: string;
  readonly rescue?: true;
  readonly sha256?: string;
}

/** A rescue system needs a disk of its own, so one disk never serves both purposes. */
const ONE_PURPOSE = 'pass either --image <name> or --rescue';

/** Characters of a checksum in a table: enough to tell images apart. */
const SHOWN_CHARS = 12;
const LIMIT = 100;
const GIB = 1024 ** 3;

export function addImages(program: Command, { resources, terminal }: OperatorContext): void {
  const images = program.command('images').description('Manage the official images and their disks');
  images
    .command('import')
    .argument('<file>', 'qcow2 or raw disk with cloud-init on this machine')
    .option('--image <name>', 'Catalog image that it provides: debian-13, or its id')
    .option('--rescue', 'Use it for rescue systems')
    .option('--sha256 <hex>', 'Expected checksum', parseSha256)
    .description('Import a disk, so that servers with its image can be deployed')
    .action(async (file: string, { image, rescue, sha256 }: ImportOptions) => {
      if ((image === undefined) !== (rescue === true)) throw new OperatorError(ONE_PURPOSE);
      const { service } = await resources.service();
      const request = { path: resolve(file), image: image ?? null, rescue: rescue ?? false };
      const imported = await importBaseImage(service, { ...request, sha256: sha256 ?? null });
      for (const line of describeImport(imported, request)) terminal.out(line);
    });
  images
    .command('list')
    .description('List the official images and their imported disks')
    .action(async () => {
      const { service } = await resources.service();
      const { images, rescue } = await getBaseImages(service);
      const { counts, unfinished } = await readDistribution(service);
      const hosts = (sha256: string | null) => {
        const count = sha256 === null ? undefined : counts.get(sha256);
        return count === undefined ? '' : `${count.ready}/${count.all}`;
      };
      const rows = images.map((image) => [
        [image.family, image.version, ...(image.variant === null ? [] : [image.variant])].join('-'),
        formatId('image', image.id),
        image.base_sha256 === null ? 'not imported' : image.base_sha256.slice(0, SHOWN_CHARS),
        String(image.base_disk_gb ?? ''),
        hosts(image.base_sha256),
        image.deprecated ? 'deprecated' : '',
      ]);
      const rescueRow = rescue
        ? [rescue.sha256.slice(0, SHOWN_CHARS), String(rescue.diskGb), hosts(rescue.sha256), '']
        : ['not imported', '', '', ''];
      const heading = ['image', 'id', 'sha256', 'disk_gb', 'on hosts', ''];
      terminal.table(heading, [...rows, ['rescue', '', ...rescueRow]]);
      for (const { image, host, progress } of unfinished) terminal.out(`${image} to ${host}: ${progress}`);
    });
  addCustomImages(images, { resources, terminal });
  addMoveFiles(images, { resources, terminal });
  addImageEdits(images, { resources, terminal });
}

function addCustomImages(images: Command, { resources, terminal }: OperatorContext): void {
  images
    .command('custom')
    .option('--customer <email>', 'Only images of this customer')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List the images of customers, newest first')
    .action(async (query: CustomImageQuery) => {
      const { service } = await resources.service();
      const found = await listCustomImageObjects(service, query);
      const rows = found.images.map((row) => [
        ...[row.id, row.name, row.customer, `${(row.size_bytes / GIB).toFixed(2)} GiB`],
        String(row.servers),
      ]);
      terminal.table(['image', 'name', 'customer', 'size', 'servers'], rows);
      if (found.hasMore) terminal.err(formatMoreHint(rows.length, 'image'));
    });
}

function describeImport(
  { disk, image, tooLargeFor }: ImportedBaseImage,
  { rescue }: { readonly rescue: boolean },
): string[] {
  const lines = [`sha256 ${disk.sha256}, for disks of ${disk.diskGb} GiB or more`];
  if (image) lines.push(`${image.family}-${image.version} now installs from it`);
  if (rescue) lines.push('rescue systems now boot it');
  if (tooLargeFor === 'all') lines.push('warning: no plan has a disk this large, so no server can use it');
  else if (tooLargeFor.length > 0) lines.push(`note: too large for the disks of ${tooLargeFor.join(', ')}`);
  return lines;
}

function parseSha256(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be 64 hexadecimal digits.');
}
