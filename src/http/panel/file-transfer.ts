/** Receives a file from a form, and names a file that is sent. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { InvalidRequest } from '../../kernel/fail.ts';

const TIMEOUT_MS = 60_000;

/**
 * Reads the rest of a form that begins at its file, into memory, and one byte more than allowed at most. The
 * file's own name is ignored.
 */
export function receiveFile({ raw, headers }: FastifyRequest, maxBytes: number): Promise<Buffer> {
  const parser = new Busboy({
    headers: headers as BusboyHeaders,
    isPartAFile: (name) => name === 'file',
    limits: { files: 1, fields: 1, parts: 2, fileSize: maxBytes + 1, headerPairs: 16 },
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const refuse = () => end(() => reject(new InvalidRequest([], 'The file could not be read. Try again.')));
    const accept = () => end(() => resolve(Buffer.concat(chunks)));
    const onClose = () => void (raw.complete || refuse());
    const timer = setTimeout(refuse, TIMEOUT_MS);
    function end(settle: () => void): void {
      clearTimeout(timer);
      raw.off('close', onClose).unpipe(parser);
      raw.resume();
      settle();
    }
    parser
      .on('file', (_name, part) => {
        part.on('data', (chunk: Buffer) => void chunks.push(chunk));
        part.on('error', refuse);
        // Beyond the limit, nothing more is read.
        part.on('limit', accept);
      })
      .on('error', refuse)
      .on('finish', accept);
    raw.on('error', refuse).on('close', onClose);
    if (raw.destroyed) refuse();
    else raw.pipe(parser);
  });
}

/** The header that saves a file under a name in any script. */
export function attachment(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}
