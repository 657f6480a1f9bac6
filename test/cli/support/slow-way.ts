/** A way to a service on which the answers to what changes something are lost, or held back. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { within } from './within.ts';

export interface SlowWay {
  readonly url: string;
  /** The next answers to anything but a GET: they pass, the connection breaks instead, or they are kept until told. */
  answers: 'pass' | 'lost' | 'held';
  /** When an answer is being held. */
  readonly whenHeld: () => Promise<void>;
  readonly letGo: () => void;
  readonly stop: () => Promise<void>;
}

export async function startSlowWay(target: string): Promise<SlowWay> {
  let held: (() => void)[] = [];
  let tell = () => {};
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const onward = request(new URL(asked.url ?? '/', target), { method, headers }, (response) => {
      const pass = () => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      };
      if (method === 'GET' || way.answers === 'pass') pass();
      else if (way.answers === 'lost') asked.socket.destroy();
      else {
        held.push(pass);
        tell();
      }
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const way: SlowWay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: 'pass',
    whenHeld: () => {
      const isHeld = new Promise<void>((resolve) => {
        if (held.length > 0) resolve();
        else tell = resolve;
      });
      return within(isHeld, 'an answer to hold');
    },
    letGo: () => {
      for (const pass of held) pass();
      held = [];
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return way;
}
