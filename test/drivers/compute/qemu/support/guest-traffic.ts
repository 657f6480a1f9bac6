/** The view of a guest's client: an SSH connection that stays open, and pings with sequence numbers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const PING_EVERY_MS = 20;
/** For a busy guest without KVM. */
const EXCHANGE_MAX_MS = 60_000;

/** Starts a program in a network namespace. */
function inNamespace(netns: string, args: readonly string[]): ChildProcess {
  const words = [`--net=/run/netns/${netns}`, ...args];
  return spawn('nsenter', words, { stdio: ['pipe', 'pipe', 'ignore'] });
}

/** Lines that go to a guest and come back over one TCP connection. */
export class EchoConnection {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #sent = 0;

  constructor(netns: string, ssh: readonly string[]) {
    this.#child = inNamespace(netns, ['ssh', ...ssh, 'cat']);
    if (this.#child.stdout === null) throw new Error('no output');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a line and waits until it is back. False: another line came, or none in time. */
  async exchange(): Promise<boolean> {
    const line = `line ${this.#sent++}`;
    this.#child.stdin?.write(`${line}\n`);
    const answered = await Promise.race([
      this.#lines.next(),
      pause(EXCHANGE_MAX_MS, undefined, { ref: false }),
    ]);
    return answered?.value === line;
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Pings a guest, and reports the longest time without an answer. */
export class Pings {
  readonly #child: ChildProcess;
  readonly #answered: number[] = [];

  constructor(netns: string, address: string) {
    const every = String(PING_EVERY_MS / 1000);
    this.#child = inNamespace(netns, ['ping', '-n', '-i', every, '-I', '198.51.100.7', address]);
    if (this.#child.stdout === null) throw new Error('no output');
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const [, sequence] = /icmp_seq=(\d+) ttl=/.exec(line) ?? [];
      if (sequence !== undefined) this.#answered.push(Number(sequence));
    });
  }

  get answers(): number {
    return this.#answered.length;
  }

  /** Returns the longest run of pings without an answer, in milliseconds. */
  async stop(): Promise<number> {
    this.#child.kill('SIGINT');
    await once(this.#child, 'close');
    const sequences = this.#answered.toSorted((a, b) => a - b);
    const gaps = sequences.map((sequence, at) => sequence - (sequences[at - 1] ?? sequence));
    return Math.max(0, ...gaps.map((gap) => gap - 1)) * PING_EVERY_MS;
  }
}
