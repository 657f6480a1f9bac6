/** One connection, written to byte for byte. */
import { connect } from 'node:net';

/** Sends the bytes and returns everything that came back until the server closed, or `quietMs` of silence after it began. */
export async function exchangeRaw(port: number, bytes: string | Buffer, quietMs = 300): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    const done = () => {
      socket.destroy();
      resolve(heard);
    };
    socket.setTimeout(10_000, done);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? done() : reject(error),
    );
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      socket.setTimeout(quietMs, done);
    });
    socket.on('close', done);
  });
}
