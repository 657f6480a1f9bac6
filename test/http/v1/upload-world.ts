/** A listening service, and the traces of an upload: files, rows, and images. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

export interface Part {
  readonly name: string | null;
  readonly filename?: string;
  readonly content: string | Buffer;
}

export const BOUNDARY = '----a1b2c3';
export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** The parts as a client would send them. */
export function multipart(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ name, filename, content }) => {
    const named = name === null ? '' : `; name="${name}"`;
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    return [`--${BOUNDARY}\r\nContent-Disposition: form-data${named}${file}\r\n\r\n`, content, '\r\n'];
  });
  return Buffer.concat([...pieces, end].map((piece) => Buffer.from(piece)));
}

export interface UploadResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any response.
  readonly body: any;
}

export interface UploadWorld extends HttpWorld {
  readonly port: number;
  /** A customer’s token. */
  token(): Promise<{ token: string; customerId: string; api: V1Client }>;
  post(token: string, body: Buffer, headers?: Readonly<Record<string, string>>): Promise<UploadResponse>;
  /** Names of files, and ids of uploads that have not ended. */
  leftovers(): Promise<string[]>;
  /** Starts a raw request: sends these bytes of the body after headers that announce `length`. */
  startUpload(token: string, bytes: Buffer, length: number, headers?: readonly string[]): Promise<Socket>;
  /** The same, and returns the response that the service sends before it closes the connection. */
  beginAndReadRejection(...begun: Parameters<UploadWorld['startUpload']>): Promise<string>;
}

export async function startUploadWorld(): Promise<UploadWorld> {
  const world = await startHttpWorld();
  const url = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const port = Number(new URL(url).port);
  const folder = dirname(world.service.blobs.path(randomUUID()) ?? '');
  const startUpload: UploadWorld['startUpload'] = async (token, bytes, length, headers = []) => {
    const socket = connect(port, '127.0.0.1');
    const head = [
      'POST /v1/images HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      `Content-Type: ${MULTIPART['content-type']}`,
      `Content-Length: ${length}`,
      ...headers,
    ];
    socket.on('error', () => undefined);
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await new Promise<void>((done) => socket.write(bytes, () => done()));
    return socket;
  };
  return {
    ...world,
    port,
    token: async () => {
      const customer = await world.customer();
      const token = await createApiToken(customer, 'write');
      return { token, customerId: await world.customerId(customer), api: V1Client.forUrl(url, token) };
    },
    post: async (token, body, headers = MULTIPART) => {
      const response = await fetch(`${url}/v1/images`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: new Uint8Array(body),
      });
      const { status } = response;
      return { status, headers: response.headers, body: await response.json() };
    },
    leftovers: async () => {
      const files = await readdir(folder).catch(() => []);
      const kept = await world.db.rows<{ id: string }>(
        'select blob_key as id from images where blob_key is not null',
      );
      const uploads = await world.db.rows<{ id: string }>('select id from image_uploads');
      const wanted = new Set(kept.map(({ id }) => id));
      return [...files.filter((name) => !wanted.has(name)), ...uploads.map(({ id }) => id)];
    },
    startUpload,
    beginAndReadRejection: async (...begun) => {
      const socket = await startUpload(...begun);
      return await new Promise((done) => {
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1');
        });
        socket.on('close', () => done(text));
      });
    },
  };
}

/** Waits until the condition holds, for at most ten seconds. */
export async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 10_000; !(await holds()); await pause(10)) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time');
  }
}
