/** The consoles that are open in this process, counted, so that they are few and end when it does. */
import type { Duplex } from 'node:stream';
import type { ConsoleGrant } from '../../domain/servers/console.ts';
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { Pipe } from './pipe.ts';

const PER_SERVER_MAX = 5;
/** A tenth of what there is, so that nobody takes the others' places. */
const PER_CUSTOMER_MAX = 20;
const PER_PROCESS_MAX = 200;
/** Those who still shake hands, each a connection and a statement. */
const HANDSHAKES_MAX = 100;
const RETRY_AFTER_S = 60;
/** A stop of the service waits no longer for viewers. Longer than each has to say goodbye. */
const CLOSE_MAX_MS = 3 * SECOND_MS;

type Slot = Pick<ConsoleGrant, 'serverId' | 'customerId'>;

export class OpenConsoles {
  readonly #handshakes = new Set<Duplex>();
  readonly #pipes = new Set<Pipe>();
  readonly #slots = new Set<Slot>();
  #closing = false;

  /** Lets somebody in who has not shown a ticket yet; call what it gives when that is decided. */
  beginHandshake(socket: Duplex): () => void {
    if (this.#closing || this.#handshakes.size >= HANDSHAKES_MAX) fail('maintenance', { retry_after_s: 1 });
    this.#handshakes.add(socket);
    return () => this.#handshakes.delete(socket);
  }

  /** Takes one of the places there are; call what it gives to free it. */
  reserve({ serverId, customerId }: Slot): () => void {
    if (this.#closing || this.#slots.size >= PER_PROCESS_MAX)
      fail('maintenance', { retry_after_s: RETRY_AFTER_S });
    const slots = [...this.#slots];
    if (slots.filter((place) => place.serverId === serverId).length >= PER_SERVER_MAX) {
      fail('conflict_state', {}, `This server has ${PER_SERVER_MAX} consoles open; close one and try again.`);
    }
    if (slots.filter((place) => place.customerId === customerId).length >= PER_CUSTOMER_MAX) {
      fail('conflict_state', {}, `You have ${PER_CUSTOMER_MAX} consoles open; close one and try again.`);
    }
    const slot = { serverId, customerId };
    this.#slots.add(slot);
    return () => void this.#slots.delete(slot);
  }

  track(pipe: Pipe): Pipe {
    this.#pipes.add(pipe);
    pipe.ended.then(() => this.#pipes.delete(pipe));
    if (this.#closing) pipe.end('stopping');
    return pipe;
  }

  /** Ends all of them and lets nobody in any more. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const socket of this.#handshakes) socket.destroy();
    const ended = Promise.all([...this.#pipes].map((pipe) => pipe.ended));
    for (const pipe of this.#pipes) pipe.end('stopping');
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_MAX_MS);
    });
    await Promise.race([ended, timedOut]);
    clearTimeout(timer);
  }
}
