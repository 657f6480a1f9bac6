/**
 * QMP, QEMU's control protocol: JSON lines over a Unix socket. Connections are short-lived, because QEMU
 * serves one client per socket at a time and no process of ours owns a machine.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeError } from '../../../ports/compute.ts';
import type { QemuHost } from './host.ts';
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

/** QEMU rejected the command. `kind` is its error class, such as `DeviceNotFound`. */
export class QmpRefusedError extends ComputeError {
  readonly kind: string;
  constructor(command: string, kind: string, description: string) {
    super('transient', `QEMU rejected ${command}: ${description}`);
    this.kind = kind;
  }
}

/** QEMU runs but did not answer: the state of its guest is unknown. It must not be taken for off. */
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
  /** We closed the connection, because QEMU was unresponsive or sent invalid data. */
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

  /** Returns undefined if no QEMU has this socket: it is off. Throws `QmpUnresponsiveError` if one has. */
  static async open(path: string): Promise<Qmp | undefined> {
    const qmp = await Qmp.tryConnect(path);
    if (qmp) return qmp;
    if ((await findProcesses(path)).length > 0)
      throw new QmpUnresponsiveError('the socket of QEMU is missing');
    return undefined;
  }

  /** Returns undefined if nothing listens, which alone does not prove that there is no QEMU. */
  static async tryConnect(path: string, responseTimeoutMs = RESPONSE_TIMEOUT_MS): Promise<Qmp | undefined> {
    const socket = await connectSocket(path, responseTimeoutMs);
    if (!socket) return undefined;
    const qmp = new Qmp(socket, responseTimeoutMs);
    try {
      await qmp.execute('qmp_capabilities');
      return qmp;
    } catch (error) {
      // QEMU exited between connecting and the handshake.
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

  /** Returns the first matching event since the connection was opened, or undefined after the timeout. */
  async waitForEvent(
    matches: (event: QmpEvent) => boolean,
    timeoutMs: number,
  ): Promise<QmpEvent | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const at = this.#events.findIndex(matches);
      if (at >= 0) return this.#events.splice(at, 1)[0];
      const remainingMs = deadline - performance.now();
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

  /** Aborts on anything that is not valid QMP. */
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
 * Runs the work with a connection to the machine's QEMU, or with undefined if the machine is off. Queries use
 * the socket `look`, which is free while other work uses `qmp`.
 */
export async function withQmp<T>(
  { layout }: QemuHost,
  machineId: string,
  work: (qmp: Qmp | undefined) => Promise<T>,
  socket: 'qmp' | 'look' = 'qmp',
): Promise<T> {
  const qmp = await Qmp.open(layout.runtimeFile(machineId, socket));
  try {
    return await work(qmp);
  } finally {
    qmp?.close();
  }
}

/**
 * Returns a connection, or undefined if nothing listens. QEMU serves one client and queues one more. A
 * further attempt fails with EAGAIN, which proves that QEMU runs, and is retried.
 */
async function connectSocket(path: string, timeoutMs: number): Promise<Socket | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const socket = connect(path);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    socket.once('connect', () => resolve(null));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    const fault = await promise;
    if (fault === null) return socket;
    if (fault === 'ENOENT' || fault === 'ECONNREFUSED') return undefined;
    if (performance.now() > deadline) throw new QmpUnresponsiveError('QEMU is busy with other clients');
    await sleep(RETRY_MS);
  }
}
