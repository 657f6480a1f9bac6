import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { CreateImage } from '@skerry/sdk';
import { command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { IMAGE_MAX_BYTES } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, list, text } from '../../options.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { IMAGE_COLUMNS } from './columns.ts';

const MIB = 1_024 ** 2;
const PROGRESS_INTERVAL_MS = 200;
/** Where the fetch of Node tells that it begins a request, and what it has sent of it; older ones do not say the latter. */
const REQUEST_CREATED = 'undici:request:create';
const CHUNK_SENT = 'undici:request:bodyChunkSent';

export const upload = command({
  name: 'image upload',
  aliases: ['create'],
  about: 'Upload an ISO image, to install servers from',
  help: 'An ISO 9660 image of at most 4 GiB. It is read as it is sent, and never held in memory.',
  operations: ['images.create'],
  args: { file: arg('The path of the image.') },
  options: {
    name: text('name', 'For your own records.'),
    version: text('version', 'The day of the upload when left out.'),
    variant: text('variant', 'minimal, say.'),
    arch: list('arch', 'What it runs on: amd64, arm64 or both; amd64 when left out.'),
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
    const why = error.code === 'ENOENT' ? 'there is no such file' : error.message;
    throw new Failure('usage', `${path}: ${why}`);
  });
  if (!found.isFile()) throw new Failure('usage', `${path} is not a file`);
  if (found.size > IMAGE_MAX_BYTES)
    throw new Failure('usage', `${path} is more than 4 GiB; nothing was sent`);
  return await openAsBlob(path).catch((error: Error) => {
    throw new Failure('usage', `${path} cannot be read: ${error.message}`);
  });
}

/** Nothing else is sent meanwhile: whatever leaves this process is the file. */
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
  // A call that failed is sent again.
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
  if (sentBytes >= sizeBytes) return `${size} sent, the service looks at it`;
  return `${(sentBytes / MIB).toFixed(1)} of ${size}, ${Math.floor((100 * sentBytes) / sizeBytes)} %`;
}
