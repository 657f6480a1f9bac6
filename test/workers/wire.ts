/** The network between a process of the control plane and a host. It can be cut, or delay what is sent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** More than a ping of HTTP/2 in TLS, less than a call. */
const CALL_MIN_BYTES = 64;
const ANSWER_TIMEOUT_MS = 2_000;

export interface Wire {
  readonly name: string;
  readonly port: number;
  /** Ends all connections. */
  cut(): void;
  /** Delays all bytes to the host from now on. `onCall` is called when the first call is among them. */
  hold(onCall: () => void): void;
  /** Delivers the delayed bytes, also if their sender is gone, and waits for an answer to them. */
  release(): Promise<void>;
  close(): Promise<void>;
}

interface Held {
  readonly parts: [host: Socket, bytes: Buffer][];
  onCall: (() => void) | null;
}

export async function startWire(name: string, hostPort: number): Promise<Wire> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let held: Held | null = null;
  const server = createServer({ noDelay: true }, (client) => {
    const host = connect({ host: '127.0.0.1', port: hostPort, noDelay: true });
    const pair = [client, host] as const;
    pairs.add(pair);
    client.on('data', (bytes) => {
      if (held === null) {
        host.write(bytes);
        return;
      }
      held.parts.push([host, bytes]);
      if (bytes.length < CALL_MIN_BYTES) return;
      held.onCall?.();
      held.onCall = null;
    });
    host.on('data', (bytes) => void (client.writable && client.write(bytes)));
    client.on('error', () => undefined).once('close', () => void (held === null && host.destroy()));
    host
      .on('error', () => undefined)
      .once('close', () => {
        client.destroy();
        pairs.delete(pair);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    name,
    port: (server.address() as AddressInfo).port,
    cut,
    hold: (onCall) => {
      held = { parts: [], onCall };
    },
    release: async () => {
      const parts = held?.parts ?? [];
      held = null;
      const answers = parts.map(([host, bytes]) => {
        const answer = once(host, 'data');
        answer.catch(() => undefined);
        host.write(bytes);
        return answer;
      });
      await Promise.race([Promise.all(answers), pause(ANSWER_TIMEOUT_MS, undefined, { ref: false })]);
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
