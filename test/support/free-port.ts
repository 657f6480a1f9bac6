/**
 * Finds a free port, for programs that cannot report which one they chose. Random, and below the range from
 * which the system takes ports for connections: one of those could use it before the program does.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const [FIRST_PORT, LAST_PORT] = [16_384, 32_767];
const ATTEMPTS_MAX = 20;

export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    try {
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}
