/**
 * QMP, QEMU's control protocol: a line of JSON each way on a Unix socket. A connection is opened for a few commands and
 * closed again: QEMU serves one at a time on a socket, and no process of ours owns a machine.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../../../ports/compute.ts';
import { processesOf } from './processes.ts';

const ANSWER_MAX_MS = 10_000;
const AGAIN_MS = 20;
const LINE_MAX_CHARS = 8 * 1024 ** 2;
const EVENTS_MAX = 1_000;

export interface QmpEvent {
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly return?: unknown;
  readonly error?: { readonly class: string; readonly desc: string };
}

/** QEMU understood the command and will not do it. `kind` is its class of error, such as `DeviceNotFound`. */
export class QmpRefusal extends ComputeError {
  readonly kind: string;
  constructor(command: string, kind: string, says: string) {
    super('transient', `QEMU refuses ${command}: ${says}`);
    this.kind = kind;
  }
}

/** There is a QEMU, and it did not answer: nothing is known of its guest, least of all that it is off. */
export class QmpSilent extends ComputeError {
  constructor(what: string) {
    super('transient', what);
  }
}

export class Qmp {
  readonly #socket: Socket;
  readonly #answerMaxMs: number;
  readonly #answers: ((answer: Answer) => void)[] = [];
  readonly #events: QmpEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #rest = '';
  #ended = false;
  /** It was us who ended it, because QEMU was silent or made no sense. */
  #givenUp = false;

  private constructor(socket: Socket, answerMaxMs: number) {
    this.#socket = socket;
    this.#answerMaxMs = answerMaxMs;
    socket.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#ended = true;
      for (const answer of this.#answers.splice(0)) answer({});
      this.#tell();
    });
  }

  /** Undefined when no QEMU has that socket: the machine is off. `QmpSilent` when one has, and cannot be spoken to. */
  static async open(path: string): Promise<Qmp | undefined> {
    const qmp = await Qmp.whoListens(path);
    if (qmp) return qmp;
    if ((await processesOf(path)).length > 0) throw new QmpSilent('the socket of QEMU is gone');
    return undefined;
  }

  /** Undefined when nobody listens there, which alone does not say that there is no QEMU. */
  static async whoListens(path: string, answerMaxMs = ANSWER_MAX_MS): Promise<Qmp | undefined> {
    const socket = await reach(path, answerMaxMs);
    if (!socket) return undefined;
    const qmp = new Qmp(socket, answerMaxMs);
    try {
      await qmp.execute('qmp_capabilities');
      return qmp;
    } catch (error) {
      // It ended between the two.
      const isOver = qmp.#ended && !qmp.#givenUp && error instanceof QmpSilent;
      qmp.close();
      if (isOver) return undefined;
      throw error;
    }
  }

  async execute<T = unknown>(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => this.#giveUp(), this.#answerMaxMs);
    this.#answers.push(resolve);
    if (this.#ended) resolve({});
    else this.#socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`);
    const { return: value, error } = await promise;
    clearTimeout(timer);
    if (error) throw new QmpRefusal(command, error.class, error.desc);
    if (value === undefined) throw new QmpSilent(`QEMU did not answer ${command}`);
    return value as T;
  }

  /** The first event of these, of those that came since the connection was opened; undefined when none came in time. */
  async event(wanted: (event: QmpEvent) => boolean, timeoutMs: number): Promise<QmpEvent | undefined> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const at = this.#events.findIndex(wanted);
      if (at >= 0) return this.#events.splice(at, 1)[0];
      const leftMs = until - Date.now();
      if (this.#ended || leftMs <= 0) return undefined;
      await this.#next(leftMs);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #giveUp(): void {
    this.#givenUp = true;
    this.#socket.destroy();
  }

  async #next(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    this.#listeners.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#listeners.delete(resolve);
  }

  /** What a QEMU that is not itself says may be anything. */
  #read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_MAX_CHARS) this.#giveUp();
    try {
      for (const line of lines.filter((each) => each.trim() !== '')) this.#take(line);
    } catch {
      this.#giveUp();
    }
  }

  #take(line: string): void {
    const said = JSON.parse(line) as Answer & Partial<QmpEvent> & { readonly QMP?: unknown };
    if (said.event !== undefined) {
      if (this.#events.length >= EVENTS_MAX) this.#events.shift();
      this.#events.push({ event: said.event, ...(said.data ? { data: said.data } : {}) });
      this.#tell();
    } else if (said.QMP === undefined) this.#answers.shift()?.(said);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/**
 * A connection, or undefined when nobody listens. QEMU takes one at a time and lets one more wait: a third is turned away,
 * which says that it is there, and tries again.
 */
async function reach(path: string, withinMs: number): Promise<Socket | undefined> {
  const until = Date.now() + withinMs;
  for (;;) {
    const socket = connect(path);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    socket.once('connect', () => resolve(null));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    const fault = await promise;
    if (fault === null) return socket;
    if (fault === 'ENOENT' || fault === 'ECONNREFUSED') return undefined;
    if (Date.now() > until) throw new QmpSilent('QEMU is busy with others');
    await sleep(AGAIN_MS);
  }
}
