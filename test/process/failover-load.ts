/** A customer who creates and revokes tokens, and what must be there afterward. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const CALLERS = 6;
/** The limit of a change, and time for the answer on a busy machine. */
const ANSWER_MAX_MS = 15_000 + 3_000;
const PAUSE_MS = 20;

export class FailoverLoad {
  readonly problems: string[] = [];
  /** Names of tokens whose creation was acknowledged and not revoked, by id. */
  readonly kept = new Map<string, string>();
  /** Names of tokens whose revocation was acknowledged. */
  readonly revoked = new Set<string>();
  answers = 0;
  refusals = 0;
  slowestMs = 0;
  lastChangeAtMs = performance.now();
  /** The longest time without an acknowledged change, since it was last set to 0. */
  longestGapMs = 0;
  #isStopped = false;
  readonly #url: string;
  readonly #token: string;
  readonly #callers: Promise<void>[] = [];

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  start(): void {
    for (let n = 0; n < CALLERS; n++) this.#callers.push(n % 2 === 0 ? this.#write() : this.#read());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
  }

  async #read(): Promise<void> {
    while (!this.#isStopped) {
      await this.#send('GET', '/v1/account', [200]);
      await sleep(PAUSE_MS);
    }
  }

  /** Repeats a refused request with its key until it is done. */
  async #write(): Promise<void> {
    while (!this.#isStopped) {
      const name = randomUUID();
      const id = await this.#repeat('POST', '/v1/account/tokens', [201], name);
      if (id !== null) this.kept.set(id, name);
      await sleep(PAUSE_MS);
      const [oldest] = this.kept.keys();
      if (oldest === undefined || this.kept.size < 2 * CALLERS) continue;
      const nameOfOldest = this.kept.get(oldest) ?? '';
      this.kept.delete(oldest);
      // 404: an earlier attempt did it, whose answer was lost.
      const done = await this.#repeat('DELETE', `/v1/account/tokens/${oldest}`, [204, 404], null);
      if (done === null) this.kept.set(oldest, nameOfOldest);
      else this.revoked.add(nameOfOldest);
    }
  }

  async #repeat(method: string, path: string, wanted: number[], key: string | null): Promise<string | null> {
    for (;;) {
      const answer = await this.#send(method, path, wanted, key);
      if (answer === null) return null;
      if (answer.status !== 503) {
        const now = performance.now();
        this.longestGapMs = Math.max(this.longestGapMs, now - this.lastChangeAtMs);
        this.lastChangeAtMs = now;
        return answer.id;
      }
      await sleep(PAUSE_MS * 5);
    }
  }

  async #send(method: string, path: string, wanted: number[], key: string | null = null) {
    const startedAtMs = performance.now();
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(key === null ? {} : { 'content-type': 'application/json', 'idempotency-key': key }),
        },
        ...(key === null ? {} : { body: JSON.stringify({ name: key, scope: 'read' }) }),
      });
      const text = await response.text();
      const body = text === '' ? {} : JSON.parse(text);
      this.answers += 1;
      this.#time(performance.now() - startedAtMs, `${method} ${path}`);
      const isRefused = response.status === 503 && typeof body.error?.request_id === 'string';
      if (isRefused) this.refusals += 1;
      else if (!wanted.includes(response.status)) {
        this.problems.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
        return null;
      }
      return { status: response.status, id: String(body.id ?? '') };
    } catch (error) {
      this.problems.push(`${method} ${path}: ${(error as Error).message} ${(error as Error).cause}`);
      return null;
    }
  }

  #time(tookMs: number, what: string): void {
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (tookMs > ANSWER_MAX_MS) this.problems.push(`${what} took ${Math.round(tookMs)} ms`);
  }
}
