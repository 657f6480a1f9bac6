/** A connection that is written to byte by byte. */
import { connect } from 'node:net';

/** Sends the bytes. Returns the response up to the close, or up to `quietMs` after its start. */
export async function exchangeRaw(port: number, bytes: string | Buffer, quietMs = 300): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const done = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(10_000, done);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? done() : reject(error),
    );
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      socket.setTimeout(quietMs, done);
    });
    socket.on('close', done);
  });
}
