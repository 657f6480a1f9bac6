/**
 * Compressed and encrypted archives: gzip inside the age format, so `age -d` and `gzip -d` read them, too.
 * Only who has an identity of one of the recipients can read an archive; writing needs no secret. Both
 * directions are streams with constant memory. The library is loaded with the first use.
 */
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { createGunzip, createGzip } from 'node:zlib';
import { bech32 } from '@scure/base';
import { OperatorError } from '../operator-error.ts';

/** Fast, and three times smaller than the text of tables. */
const COMPRESSION_LEVEL = 3;
const IDENTITY = /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]+$/;

/** The archive is not readable: damaged, incomplete, or for other identities. */
export class ArchiveError extends OperatorError {}

/** It is for other identities: another archive of the same service would be, too. */
export class IdentityError extends ArchiveError {}

/** Returns the recipients of a comma-separated list, or null if one of them is not valid. */
export function parseRecipients(text: string): readonly string[] | null {
  const recipients = text.split(',').map((each) => each.trim());
  return recipients.every(isRecipient) ? recipients : null;
}

function isRecipient(text: string): boolean {
  return /^age1(?:pq1)?[0-9a-z]+$/.test(text) && bech32.decodeUnsafe(text, false) !== undefined;
}

/** Reads an identity file of `age-keygen`. Throws an OperatorError if it has none. */
export function parseIdentities(text: string): readonly string[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length > 0 && lines.every((line) => IDENTITY.test(line))) return lines;
  throw new OperatorError('the identity file must have lines that begin with AGE-SECRET-KEY-1');
}

/** Creates an identity that exists only in memory. It is no weaker than the recipients `like`. */
export async function createIdentity({ like = [] }: { readonly like?: readonly string[] } = {}): Promise<{
  readonly identity: string;
  readonly recipient: string;
}> {
  const age = await import('age-encryption');
  const isPostQuantum = like.some((each) => each.startsWith('age1pq1'));
  const identity = await (isPostQuantum ? age.generateHybridIdentity() : age.generateX25519Identity());
  return { identity, recipient: await age.identityToRecipient(identity) };
}

export async function* encryptArchive(
  content: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const compressed = throughTransform(content, createGzip({ level: COMPRESSION_LEVEL }));
  yield* fromWeb(await encrypter.encrypt(toWeb(compressed)));
}

/** Throws an ArchiveError as soon as it meets a byte that is not authentic. Errors of `content` pass. */
export async function* decryptArchive(
  content: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncGenerator<Uint8Array> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const source = new WatchedSource(content);
  try {
    const plain = fromWeb(await decrypter.decrypt(toWeb(Readable.from(source))));
    yield* throughTransform(plain, createGunzip());
  } catch (error) {
    if (source.failure !== undefined) throw source.failure;
    throw toArchiveError(error);
  }
}

function toArchiveError(error: unknown): unknown {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  if (message.includes('no identity matched'))
    return new IdentityError(
      'the archive is encrypted to other keys: use the identity of one of its recipients',
    );
  if (error instanceof ArchiveError || error instanceof TypeError || code === 'ABORT_ERR') return error;
  return new ArchiveError('the archive is damaged or incomplete');
}

/** Remembers an error of the source, which is not one of the archive. */
class WatchedSource implements AsyncIterable<Uint8Array> {
  readonly #content: AsyncIterable<Uint8Array>;
  failure: unknown;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#content;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

/** Ends the source when its reader ends, and passes on its error. */
function throughTransform(content: AsyncIterable<Uint8Array>, transform: Transform): Readable {
  const out = new PassThrough();
  pipeline(Readable.from(content), transform, out).catch((error: Error) => out.destroy(error));
  return out;
}

function toWeb(readable: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(readable) as ReadableStream<Uint8Array>;
}

function fromWeb(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return stream as WebStream<Uint8Array>;
}
