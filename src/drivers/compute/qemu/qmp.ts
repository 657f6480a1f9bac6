/**
 * QMP, QEMU's control protocol: a line of JSON each way on a Unix socket. A connection is opened for a few commands and
 * closed again: QEMU serves one at a time on a socket, and no process of ours owns a machine.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../../../ports/compute.ts';
import { findProcesses } from './processes.ts';

const RESPONSE_TIMEOUT_MS = 10_000;
const RETRY_MS = 20;
const LINE_MAX_CHARS = 8 * 1024 ** 2;
const EVENTS_MAX = 1_000;

export interface QmpEvent {
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface QmpResponse {
  readonly return?: unknown;
  readonly error?: { readonly class: string; readonly desc: string };
}

/** QEMU understood the command and will not do it. `kind` is its class of error, such as `DeviceNotFound`. */
export class QmpRefusedError extends ComputeError {
  readonly kind: string;
  constructor(command: string, kind: string, description: string) {
    super('transient', `QEMU refuses ${command}: ${description}`);
    this.kind = kind;
  }
}

/** There is a QEMU, and it did not answer: nothing is known of its guest, least of all that it is off. */
export class QmpUnresponsiveError extends ComputeError {
  constructor(message: string) {
    super('transient', message);
  }
}

export class Qmp {
  readonly #socket: Socket;
  readonly #responseTimeoutMs: number;
  readonly #pending: ((answer: QmpResponse) => void)[] = [];
  readonly #events: QmpEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #buffer = '';
  #isClosed = false;
  /** It was us who ended it, because QEMU was silent or made no sense. */
  #isAborted = false;

  private constructor(socket: Socket, answerMaxMs: number) {
    this.#socket = socket;
    this.#responseTimeoutMs = answerMaxMs;
    socket.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#isClosed = true;
      for (const answer of this.#pending.splice(0)) answer({});
      this.#notifyListeners();
    });
  }

  /** Undefined when no QEMU has that socket: the machine is off. `QmpSilent` when one has, and cannot be spoken to. */
  static async open(path: string): Promise<Qmp | undefined> {
    const qmp = await Qmp.tryConnect(path);
    if (qmp) return qmp;
    if ((await findProcesses(path)).length > 0) throw new QmpUnresponsiveError('the socket of QEMU is gone');
    return undefined;
  }

  /** Undefined when nobody listens there, which alone does not say that there is no QEMU. */
  static async tryConnect(path: string, responseTimeoutMs = RESPONSE_TIMEOUT_MS): Promise<Qmp | undefined> {
    const socket = await connectSocket(path, responseTimeoutMs);
    if (!socket) return undefined;
    const qmp = new Qmp(socket, responseTimeoutMs);
    try {
      await qmp.execute('qmp_capabilities');
      return qmp;
    } catch (error) {
      // It ended between the two.
      const hasEnded = qmp.#isClosed && !qmp.#isAborted && error instanceof QmpUnresponsiveError;
      qmp.close();
      if (hasEnded) return undefined;
      throw error;
    }
  }

  async execute<T = unknown>(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<QmpResponse>();
    const timer = setTimeout(() => this.#abort(), this.#responseTimeoutMs);
    this.#pending.push(resolve);
    if (this.#isClosed) resolve({});
    else this.#socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`);
    const { return: value, error } = await promise;
    clearTimeout(timer);
    if (error) throw new QmpRefusedError(command, error.class, error.desc);
    if (value === undefined) throw new QmpUnresponsiveError(`QEMU did not answer ${command}`);
    return value as T;
  }

  /** The first event of these, of those that came since the connection was opened; undefined when none came in time. */
  async waitForEvent(
    matches: (event: QmpEvent) => boolean,
    timeoutMs: number,
  ): Promise<QmpEvent | undefined> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const at = this.#events.findIndex(matches);
      if (at >= 0) return this.#events.splice(at, 1)[0];
      const remainingMs = deadline - Date.now();
      if (this.#isClosed || remainingMs <= 0) return undefined;
      await this.#waitForNext(remainingMs);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #abort(): void {
    this.#isAborted = true;
    this.#socket.destroy();
  }

  async #waitForNext(waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#listeners.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#listeners.delete(resolve);
  }

  /** What a QEMU that is not itself says may be anything. */
  #read(text: string): void {
    const lines = `${this.#buffer}${text}`.split('\n');
    this.#buffer = lines.pop() ?? '';
    if (this.#buffer.length > LINE_MAX_CHARS) this.#abort();
    try {
      for (const line of lines.filter((each) => each.trim() !== '')) this.#handleLine(line);
    } catch {
      this.#abort();
    }
  }

  #handleLine(line: string): void {
    const message = JSON.parse(line) as QmpResponse & Partial<QmpEvent> & { readonly QMP?: unknown };
    if (message.event !== undefined) {
      if (this.#events.length >= EVENTS_MAX) this.#events.shift();
      this.#events.push({ event: message.event, ...(message.data ? { data: message.data } : {}) });
      this.#notifyListeners();
    } else if (message.QMP === undefined) this.#pending.shift()?.(message);
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}

/**
 * A connection, or undefined when nobody listens. QEMU takes one at a time and lets one more wait: a third is turned away,
 * which says that it is there, and tries again.
 */
async function connectSocket(path: string, timeoutMs: number): Promise<Socket | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const socket = connect(path);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    socket.once('connect', () => resolve(null));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    const fault = await promise;
    if (fault === null) return socket;
    if (fault === 'ENOENT' || fault === 'ECONNREFUSED') return undefined;
    if (Date.now() > deadline) throw new QmpUnresponsiveError('QEMU is busy with others');
    await sleep(RETRY_MS);
  }
}
