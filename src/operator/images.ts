/** `images import`, `images list`. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type Imported, importBase, listBases } from '../domain/images/base.ts';
import { showId } from '../kernel/ids.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { OperatorContext } from './context.ts';
import { table } from './table.ts';

interface ImportOptions {
  readonly image?: string;
  readonly rescue?: true;
  readonly sha256?: string;
}

/** Of a checksum in a table: enough to tell one from another. */
const SHOWN_CHARS = 12;

export function addImages(program: Command, { doors, terminal }: OperatorContext): void {
  const images = program.command('images').description('the disks that official images are installed from');
  images
    .command('import')
    .argument('<file>', 'a qcow2 or raw disk with cloud-init, on this machine')
    .option('--image <name>', 'the image of the catalogue that it is: debian-13, or its id')
    .option('--rescue', 'rescue systems boot it from now on')
    .option('--sha256 <hex>', 'what its checksum must be', readSha256)
    .description('take a disk: servers with its image can be deployed from then on')
    .action(async (file: string, { image, rescue, sha256 }: ImportOptions) => {
      if (image === undefined && !rescue)
        throw new Refusal('say what it is: --image <name>, --rescue or both');
      const { service } = await doors.service();
      const wanted = { path: resolve(file), image: image ?? null, rescue: rescue ?? false };
      const imported = await importBase(service, { ...wanted, sha256: sha256 ?? null });
      for (const line of describe(imported, wanted)) terminal.out(line);
    });
  images
    .command('list')
    .description('print the official images and what was imported for each')
    .action(async () => {
      const { service } = await doors.service();
      const { images, rescue } = await listBases(service);
      const rows = images.map((image) => [
        [image.family, image.version, ...(image.variant === null ? [] : [image.variant])].join('-'),
        showId('image', image.id),
        image.base_sha256 === null ? 'not imported' : image.base_sha256.slice(0, SHOWN_CHARS),
        String(image.base_disk_gb ?? ''),
        image.deprecated ? 'deprecated' : '',
      ]);
      const rescueRow = rescue
        ? [rescue.sha256.slice(0, SHOWN_CHARS), String(rescue.diskGb), '']
        : ['not imported', '', ''];
      const heading = ['image', 'id', 'sha256', 'disk_gb', ''];
      for (const line of table([heading, ...rows, ['rescue', '', ...rescueRow]])) terminal.out(line);
    });
}

function describe(
  { disk, image, tooLargeFor }: Imported,
  { rescue }: { readonly rescue: boolean },
): string[] {
  const lines = [`sha256 ${disk.sha256}, for disks of ${disk.diskGb} GiB and more`];
  if (image) lines.push(`${image.family}-${image.version} is installed from it`);
  if (rescue) lines.push('rescue systems boot it');
  if (tooLargeFor === 'all') lines.push('warning: no plan has a disk of that size, so no server can have it');
  else if (tooLargeFor.length > 0) lines.push(`note: too large for the disks of ${tooLargeFor.join(', ')}`);
  return lines;
}

function readSha256(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It is 64 hexadecimal digits.');
}
