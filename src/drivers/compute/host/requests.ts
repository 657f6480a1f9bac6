/** Requests of the control plane to a host: opening a stream, and reading the answer. */
import { type ClientHttp2Stream, constants } from 'node:http2';
import { ComputeError, DamagedFile, MissingFile } from '../../../ports/compute.ts';
import type { HostConnection } from './connection.ts';
import { type CallMethod, ErrorAnswer } from './methods.ts';
import { readStream } from './read-stream.ts';
import { NotConnected } from './session.ts';
import { ANSWER_MAX_BYTES, parseJson } from './wire.ts';

/** Without a connection nothing was sent. Only a machine that does not exist yet may go to another host. */
export async function openStream(
  connection: HostConnection,
  method: CallMethod | 'console' | 'examine' | 'file',
  path: string,
): Promise<ClientHttp2Stream> {
  try {
    const stream = await connection.request(path);
    // The connection may end while the caller still waits for the number of its call. Reading reports it.
    stream.on('error', () => undefined);
    return stream;
  } catch (error) {
    if (!(error instanceof NotConnected) || method === 'ensure') throw error;
    throw new ComputeError('transient', error.message);
  }
}

/** Returns the answer as JSON. Throws the host's error, or `transient` if the connection ended. */
export async function readAnswer(connection: HostConnection, stream: ClientHttp2Stream): Promise<unknown> {
  const text = await readStream(stream, { maxBytes: ANSWER_MAX_BYTES }).catch(() => {
    stream.close(constants.NGHTTP2_CANCEL);
    throw new ComputeError('transient', `the connection to host ${connection.name} ended during the call`);
  });
  const answer = parseJson(text);
  throwErrorOf(answer);
  return answer;
}

/** Throws the host's error if the answer has one. */
export function throwErrorOf(answer: unknown): void {
  if (!ErrorAnswer.Check(answer)) return;
  const { fault, message } = answer.error;
  if (fault === 'missing') throw new MissingFile(message);
  if (fault === 'damaged') throw new DamagedFile(message);
  throw new ComputeError(fault === 'late' ? 'transient' : fault, message);
}

export function noValidAnswer({ name }: HostConnection): ComputeError {
  return new ComputeError('transient', `host ${name} gave no valid answer`);
}
