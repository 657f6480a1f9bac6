/** A host's calls about files: it receives them, offers them to other hosts, and fetches them from there. */
import type { ServerHttp2Stream } from 'node:http2';
import { ComputeError, DamagedFile } from '../../../ports/compute.ts';
import type { HostFile, HostFiles } from '../../../ports/host-files.ts';
import { fetchFile } from './fetch-file.ts';
import type { FileOffers } from './file-offers.ts';
import { FetchBody, FileBody, OfferBody, parseFileHeader, readFile, sourceOf, transferOf } from './files.ts';
import { BadRequest, FETCH_PROGRESS_MS, type WireError } from './wire.ts';

interface Parts {
  /** Undefined if the driver needs no files. */
  readonly files: HostFiles | undefined;
  readonly offers: FileOffers | undefined;
  /** Returns the answer to a call that arrived after a later one, or null. */
  refuseLate(call: number, resources: readonly string[]): { readonly error: WireError } | null;
  /** How long a sender of a file may pause; 30 seconds by default. */
  readonly idleMs: number | undefined;
}

export class FileServer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async find(body: unknown): Promise<object> {
    const { files } = this.#parts;
    if (!FileBody.Check(body) || files === undefined) throw new BadRequest();
    return { result: await files.find(body.file) };
  }

  async receive(stream: ServerHttp2Stream, header: string): Promise<object> {
    const { files, idleMs } = this.#parts;
    const parsed = parseFileHeader(header);
    if (parsed === null || files === undefined) throw new BadRequest();
    const { call, file, offset } = parsed;
    const late = this.#refuseLate(call, file);
    if (late !== null) return late;
    await files.receive(file, offset, readFile(stream, idleMs));
    return {};
  }

  /** The offer lasts as long as the stream. */
  async offer(stream: ServerHttp2Stream, body: unknown): Promise<void> {
    const { files, offers } = this.#parts;
    if (!OfferBody.Check(body) || files === undefined) throw new BadRequest();
    const path = await files.locate(body.file);
    if (path === null || offers === undefined)
      throw new ComputeError('transient', 'the host does not have the file to send it');
    if (stream.destroyed) return;
    stream.once('close', offers.open(transferOf(body.transfer), path));
    respond(stream, { result: { address: offers.address } }, { isOpen: true });
  }

  /** Tells how much it has until it is done. Ends the transfer when the caller ends the stream. */
  async fetch(stream: ServerHttp2Stream, body: unknown): Promise<void> {
    const { files, idleMs } = this.#parts;
    if (!FetchBody.Check(body) || files === undefined) throw new BadRequest();
    const { call, file } = body;
    const late = this.#refuseLate(call, file);
    if (late !== null) return respond(stream, late);
    const { state, bytes: offset } = await files.find(file);
    if (state === 'receiving') throw new ComputeError('transient', 'the host is receiving this file already');
    if (stream.destroyed) return;
    const abort = new AbortController();
    stream.once('close', () => abort.abort());
    const content = fetchFile(sourceOf(body.source), { file, offset }, { signal: abort.signal, idleMs });
    await respondWithProgress(stream, { files, file, offset }, () => files.receive(file, offset, content));
  }

  /** A late call must not make an earlier disk the rescue system again. */
  #refuseLate(call: number, { kind, sha256 }: HostFile): { readonly error: WireError } | null {
    return this.#parts.refuseLate(call, [kind === 'rescue' ? 'rescue file' : `file ${sha256}`]);
  }
}

function respond(stream: ServerHttp2Stream, line: object, { isOpen = false } = {}): void {
  stream.respond({ ':status': 200 });
  stream.write(`${JSON.stringify(line)}\n`);
  if (!isOpen) stream.end();
}

async function respondWithProgress(
  stream: ServerHttp2Stream,
  { files, file, offset }: { readonly files: HostFiles; readonly file: HostFile; readonly offset: number },
  receive: () => Promise<void>,
): Promise<void> {
  const write = (line: object) => {
    if (stream.writable) stream.write(`${JSON.stringify(line)}\n`);
  };
  const tell = async () => write({ bytes: (await files.find(file)).bytes });
  respond(stream, { bytes: offset }, { isOpen: true });
  const timer = setInterval(() => void tell().catch(() => undefined), FETCH_PROGRESS_MS);
  try {
    await receive();
    write({});
  } catch (error) {
    write({ error: describe(error) });
    if (!(error instanceof ComputeError)) throw error;
  } finally {
    clearInterval(timer);
    stream.end();
  }
}

function describe(error: unknown): WireError {
  if (!(error instanceof ComputeError)) return { fault: 'transient', message: 'the host failed' };
  return { fault: error instanceof DamagedFile ? 'damaged' : error.fault, message: error.message };
}
