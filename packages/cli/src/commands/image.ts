import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { CreateImage, Image } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { FIND_IMAGE, findImage, imageName } from '../find.ts';
import { IMAGE_MAX_BYTES, IMAGE_UPLOADS_MAX } from '../limits.ts';
import { listCommand, omitUndefined } from '../lists.ts';
import { arg, listOf, text } from '../options.ts';
import { type Column, fields, hidden } from '../output/format.ts';
import { deleteCommand, describeCommand } from '../resources.ts';
import type { Terminal } from '../terminal/terminal.ts';

const IMAGE_COLUMNS: readonly Column<Image>[] = [
  ...fields<Image>('id'),
  { name: 'name', value: imageName },
  ...fields<Image>('type'),
  ...hidden(fields<Image>('family', 'version', 'variant')),
  ...fields<Image>('arch', 'size_gb'),
  ...hidden(fields<Image>('cloud_init')),
  ...fields<Image>('released_at', 'deprecated_at'),
];

const ARCHES = ['amd64', 'arm64'] as const;
const TYPES = ['official', 'custom'] as const;

const IMAGE = { word: 'image', about: 'Name or ID', find: findImage, calls: FIND_IMAGE };

const list = listCommand({
  name: 'image list',
  about: 'List images',
  help: 'Names in the list are valid values of --image in other commands.',
  operations: ['images.list'],
  options: {
    family: text('family', 'Filter by family, such as debian'),
    arch: text('arch', 'Filter by architecture', { choices: ARCHES }),
    type: text('type', 'Filter by type', { choices: TYPES }),
  },
  columns: IMAGE_COLUMNS,
  example: 'skerry image list --family debian',
  list: (skerry, query) => skerry.images.list(query),
  // The service's order, by ID, means nothing to a person.
  order: (one, other) => imageName(one).localeCompare(imageName(other), 'en', { numeric: true }),
});

const describe = describeCommand(
  { ...IMAGE, about: 'ID, name, or family for the newest version' },
  { about: 'Show an image', columns: IMAGE_COLUMNS, example: 'skerry image describe debian-13' },
);

const remove = deleteCommand(IMAGE, {
  noun: 'image',
  operation: 'images.delete',
  delete: (skerry, id) => skerry.images.delete(id),
  about: 'Delete a custom image',
  help: 'Servers that were installed from it are not affected.',
  example: 'skerry image delete rescue --yes',
});

const MIB = 1_024 ** 2;
const PROGRESS_INTERVAL_MS = 200;
/** Diagnostics channels of Node's fetch: a request starts, a chunk was sent (not in older versions). */
const REQUEST_CREATED = 'undici:request:create';
const CHUNK_SENT = 'undici:request:bodyChunkSent';

export const upload = command({
  name: 'image upload',
  aliases: ['create'],
  about: 'Upload an ISO image to install servers from',
  help:
    'The image must be ISO 9660 and at most 4 GiB. It is streamed and never held in memory.\n' +
    `An account can have ${IMAGE_UPLOADS_MAX} uploads in progress at a time.`,
  operations: ['images.create'],
  args: { file: arg('Path of the image') },
  options: {
    name: text('name', 'Name of the image, for your own records'),
    version: text('version', 'Version of the image (default: the upload date)'),
    variant: text('variant', 'Variant of the image, such as minimal'),
    arch: listOf('arch', 'Architectures: amd64, arm64, or both (default: amd64)'),
  },
  columns: IMAGE_COLUMNS,
  example: 'skerry image upload rescue.iso --name rescue --version 2026.1',
  run: async ({ skerry, terminal, output, signal }, { file: path, name, version, variant, arch }) => {
    const file = await openImage(path);
    const arches = arch as CreateImage['arch'];
    const body: CreateImage = { file, ...omitUndefined({ name, version, variant, arch: arches }) };
    const image = await withProgress(terminal, path, file.size, () => skerry.images.create(body, { signal }));
    output.show(image, IMAGE_COLUMNS);
  },
});

async function openImage(path: string): Promise<Blob> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'file not found' : error.message;
    throw new Failure('usage', `${path}: ${why}`);
  });
  if (!found.isFile()) throw new Failure('usage', `${path} is not a file`);
  if (found.size > IMAGE_MAX_BYTES)
    throw new Failure('usage', `${path} is larger than 4 GiB; nothing was sent`);
  return await openAsBlob(path).catch((error: Error) => {
    throw new Failure('usage', `cannot read ${path}: ${error.message}`);
  });
}

/** Counts all bytes that this process sends: meanwhile, it sends only the file. */
async function withProgress<T>(
  terminal: Terminal,
  path: string,
  sizeBytes: number,
  send: () => Promise<T>,
): Promise<T> {
  let sentBytes = 0;
  const addChunk = (message: unknown) => {
    sentBytes += (message as { readonly chunk: Uint8Array }).chunk.byteLength ?? 0;
  };
  // A failed request is sent again from the start.
  const resetCount = () => {
    sentBytes = 0;
  };
  const showProgress = () => terminal.progress(`${path}: ${formatProgress(sentBytes, sizeBytes)}`);
  const timer = setInterval(showProgress, PROGRESS_INTERVAL_MS);
  subscribe(REQUEST_CREATED, resetCount);
  subscribe(CHUNK_SENT, addChunk);
  try {
    return await send();
  } finally {
    unsubscribe(REQUEST_CREATED, resetCount);
    unsubscribe(CHUNK_SENT, addChunk);
    clearInterval(timer);
    terminal.progress('');
  }
}

function formatProgress(sentBytes: number, sizeBytes: number): string {
  const size = `${(sizeBytes / MIB).toFixed(1)} MiB`;
  if (sentBytes === 0) return `sending ${size}`;
  if (sentBytes >= sizeBytes) return `${size} sent, waiting for verification`;
  return `${(sentBytes / MIB).toFixed(1)} of ${size}, ${Math.floor((100 * sentBytes) / sizeBytes)} %`;
}

export const IMAGE_COMMANDS: readonly Command[] = [list, describe, remove, upload];
