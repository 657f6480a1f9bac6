/** `images import`, `images list`. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { getBaseImages, type ImportedBaseImage, importBaseImage } from '../domain/images/base-images.ts';
import { formatId } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { OperatorContext } from './context.ts';
import { formatTable } from './table.ts';

interface ImportOptions {
  readonly image?: string;
  readonly rescue?: true;
  readonly sha256?: string;
}

/** Of a checksum in a table: enough to tell one from another. */
const SHOWN_CHARS = 12;

export function addImages(program: Command, { resources, terminal }: OperatorContext): void {
  const images = program.command('images').description('the disks that official images are installed from');
  images
    .command('import')
    .argument('<file>', 'a qcow2 or raw disk with cloud-init, on this machine')
    .option('--image <name>', 'the image of the catalogue that it is: debian-13, or its id')
    .option('--rescue', 'rescue systems boot it from now on')
    .option('--sha256 <hex>', 'what its checksum must be', parseSha256)
    .description('take a disk: servers with its image can be deployed from then on')
    .action(async (file: string, { image, rescue, sha256 }: ImportOptions) => {
      if (image === undefined && !rescue)
        throw new OperatorError('say what it is: --image <name>, --rescue or both');
      const { service } = await resources.service();
      const request = { path: resolve(file), image: image ?? null, rescue: rescue ?? false };
      const imported = await importBaseImage(service, { ...request, sha256: sha256 ?? null });
      for (const line of describeImport(imported, request)) terminal.out(line);
    });
  images
    .command('list')
    .description('print the official images and what was imported for each')
    .action(async () => {
      const { service } = await resources.service();
      const { images, rescue } = await getBaseImages(service);
      const rows = images.map((image) => [
        [image.family, image.version, ...(image.variant === null ? [] : [image.variant])].join('-'),
        formatId('image', image.id),
        image.base_sha256 === null ? 'not imported' : image.base_sha256.slice(0, SHOWN_CHARS),
        String(image.base_disk_gb ?? ''),
        image.deprecated ? 'deprecated' : '',
      ]);
      const rescueRow = rescue
        ? [rescue.sha256.slice(0, SHOWN_CHARS), String(rescue.diskGb), '']
        : ['not imported', '', ''];
      const heading = ['image', 'id', 'sha256', 'disk_gb', ''];
      for (const line of formatTable([heading, ...rows, ['rescue', '', ...rescueRow]])) terminal.out(line);
    });
}

function describeImport(
  { disk, image, tooLargeFor }: ImportedBaseImage,
  { rescue }: { readonly rescue: boolean },
): string[] {
  const lines = [`sha256 ${disk.sha256}, for disks of ${disk.diskGb} GiB and more`];
  if (image) lines.push(`${image.family}-${image.version} is installed from it`);
  if (rescue) lines.push('rescue systems boot it');
  if (tooLargeFor === 'all') lines.push('warning: no plan has a disk of that size, so no server can have it');
  else if (tooLargeFor.length > 0) lines.push(`note: too large for the disks of ${tooLargeFor.join(', ')}`);
  return lines;
}

function parseSha256(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It is 64 hexadecimal digits.');
}
