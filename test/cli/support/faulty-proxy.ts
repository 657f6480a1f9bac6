/** A way to a service on which the answers to what changes something are lost, or held back. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withTimeout } from './with-timeout.ts';

export interface FaultyProxy {
  readonly url: string;
  /** The next answers to anything but a GET: they pass, the connection breaks instead, or they are kept until told. */
  responses: 'pass' | 'lost' | 'held';
  /** When an answer is being held. */
  readonly waitUntilHeld: () => Promise<void>;
  readonly release: () => void;
  readonly stop: () => Promise<void>;
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let held: (() => void)[] = [];
  let notify = () => {};
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const onward = request(new URL(asked.url ?? '/', target), { method, headers }, (response) => {
      const pass = () => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      };
      if (method === 'GET' || proxy.responses === 'pass') pass();
      else if (proxy.responses === 'lost') asked.socket.destroy();
      else {
        held.push(pass);
        notify();
      }
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
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
      return withTimeout(isHeld, 'an answer to hold');
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
