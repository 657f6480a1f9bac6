/** A TCP proxy to the test database that fails as a server does: with a fatal error, or by hanging. */
import type { ConnectionSettings } from '../../src/store/db.ts';
import { type ServerData, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

type ServerSettings = Exclude<ConnectionSettings, { connectionString: string }>;

/** After the fatal error, a real server closes the connection. */
export type AfterFatal = 'closes' | 'stays';

export interface PgProxy extends TcpProxy {
  readonly connection: ServerSettings;
  /** Messages of the server since the last `failAt`. */
  readonly messageCount: number;
  /** Appends a fatal error to this message of the server, once. They count from 1, over all connections. */
  failAt(message: number, after: AfterFatal): void;
}

const FATAL = fatalError('57P01', 'terminating connection due to administrator command');

/** The faults that all connections of a proxy share. */
interface Faults {
  failure: { readonly message: number; readonly after: AfterFatal } | null;
  messageCount: number;
}

/** Starts a proxy to the server of these settings. */
export async function startPgProxy(target: ServerSettings): Promise<PgProxy> {
  const faults: Faults = { failure: null, messageCount: 0 };
  const proxy = await startTcpProxy(target, () => withFatal(faults));
  return {
    ...proxy,
    connection: { ...target, host: '127.0.0.1', port: proxy.port },
    get messageCount() {
      return faults.messageCount;
    },
    failAt: (message, after) => {
      faults.messageCount = 0;
      faults.failure = { message, after };
    },
  };
}

function withFatal(faults: Faults): ServerData {
  const split = messageSplitter();
  return {
    pass: (received) => {
      const data: Buffer[] = [];
      for (const message of split(received)) {
        faults.messageCount += 1;
        const isFatal = faults.failure?.message === faults.messageCount;
        data.push(isFatal ? Buffer.concat([message, FATAL]) : message);
        if (isFatal && faults.failure?.after === 'closes') return { data, ends: true };
      }
      return { data };
    },
  };
}

/** Returns a function that turns the server's data into whole messages: a type, a length, and a body. */
function messageSplitter(): (data: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const messages: Buffer[] = [];
    while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      messages.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return messages;
  };
}

function fatalError(state: string, text: string): Buffer {
  const fields = `SFATAL\0VFATAL\0C${state}\0M${text}\0\0`;
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(4 + Buffer.byteLength(fields), 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}
