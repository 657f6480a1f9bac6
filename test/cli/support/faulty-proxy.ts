/** A proxy to the service that drops or holds back responses to requests that change something. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withTimeout } from './with-timeout.ts';

export interface FaultyProxy {
  readonly url: string;
  /** The fate of responses except to GET: delivered, lost with the connection, or held until `release`. */
  responses: 'pass' | 'lost' | 'held';
  /** Resolves when a response is being held. */
  readonly waitUntilHeld: () => Promise<void>;
  readonly release: () => void;
  readonly stop: () => Promise<void>;
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let held: (() => void)[] = [];
  let notify = () => {};
  const server = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? '/', target), { method, headers }, (response) => {
      const pass = () => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      };
      if (method === 'GET' || proxy.responses === 'pass') pass();
      else if (proxy.responses === 'lost') incoming.socket.destroy();
      else {
        held.push(pass);
        notify();
      }
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    responses: 'pass',
    waitUntilHeld: () => {
      const isHeld = new Promise<void>((resolve) => {
        if (held.length > 0) resolve();
        else notify = resolve;
      });
      return withTimeout(isHeld, 'a held response');
    },
    release: () => {
      for (const pass of held) pass();
      held = [];
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
