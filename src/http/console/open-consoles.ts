/** Counts the open consoles of this process, to limit them and to end them when it stops. */

import type { Duplex } from 'node:stream';
import type { ConsoleGrant } from '../../domain/servers/console.ts';
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { settlesWithin } from '../../kernel/timeout.ts';
import type { Pipe } from './pipe.ts';

const PER_SERVER_MAX = 5;
/** A tenth of the total, so that one customer cannot take every slot. */
const PER_CUSTOMER_MAX = 20;
const PER_PROCESS_MAX = 200;
/** Connections in the handshake, each with one database statement. */
const HANDSHAKES_MAX = 100;
const RETRY_AFTER_S = 60;
/** How long stopping the service waits for viewers. Longer than the close timeout of one viewer. */
const CLOSE_MAX_MS = 3 * SECOND_MS;

type Slot = Pick<ConsoleGrant, 'serverId' | 'customerId'>;

export class OpenConsoles {
  readonly #handshakes = new Set<Duplex>();
  readonly #pipes = new Set<Pipe>();
  readonly #slots = new Set<Slot>();
  #closing = false;

  /**
   * Admits a connection that has not presented a ticket yet. Call the returned function once that is decided.
   */
  beginHandshake(socket: Duplex): () => void {
    if (this.#closing || this.#handshakes.size >= HANDSHAKES_MAX) fail('maintenance', { retry_after_s: 1 });
    this.#handshakes.add(socket);
    return () => this.#handshakes.delete(socket);
  }

  /** Reserves a slot. Call the returned function to release it. */
  reserve({ serverId, customerId }: Slot): () => void {
    if (this.#closing || this.#slots.size >= PER_PROCESS_MAX)
      fail('maintenance', { retry_after_s: RETRY_AFTER_S });
    const slots = [...this.#slots];
    if (slots.filter((place) => place.serverId === serverId).length >= PER_SERVER_MAX) {
      fail('conflict_state', {}, `This server has ${PER_SERVER_MAX} consoles open. Close one and try again.`);
    }
    if (slots.filter((place) => place.customerId === customerId).length >= PER_CUSTOMER_MAX) {
      fail('conflict_state', {}, `You have ${PER_CUSTOMER_MAX} consoles open. Close one and try again.`);
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

  /** Ends all consoles and admits no more. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const socket of this.#handshakes) socket.destroy();
    const ended = Promise.all([...this.#pipes].map((pipe) => pipe.ended));
    for (const pipe of this.#pipes) pipe.end('stopping');
    await settlesWithin(ended, CLOSE_MAX_MS);
  }
}
