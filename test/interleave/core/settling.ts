/**
 * Waits until nothing moves. A statement that was sent has either settled, or waits for a lock that a session
 * holds whose task waits for us: the database says so. Both last until the next choice, so how long anything
 * took has no effect. Sessions that wait for one row would race for it when it is released, so they go on one
 * after the other.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { runOutside } from './context.ts';
import type { Random } from './random.ts';

export interface Operation {
  readonly label: string;
  /** The session's process in the database; null if it cannot wait for a lock of another task. */
  readonly pid: number | null;
  isBlocked: boolean;
  /** Its session does not run, even if it has its lock. */
  isPaused: boolean;
  /** It was aborted to end a deadlock. */
  isVictim: boolean;
  /** Takes the continuation of the task, which runs when nothing moves. */
  end: (deliver: () => void) => void;
}

/** How to see and end waits in the database. */
export interface Wait {
  /** Who blocks each session; nobody: it does not wait for a lock. */
  blockers(pids: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>>;
  cancel(pid: number): Promise<void>;
  pause(pid: number): void;
  resume(pid: number): void;
}

/** A statement that takes longer does not wait for the processor. */
const ASK_AFTER_MS = 2;
/** A session may be seen while it waits for another that has just gone on. */
const CONFIRMATIONS = 2;
const STUCK_MS = 20_000;

export class Settling {
  readonly #wait: Wait;
  readonly #random: Random;
  readonly #operations = new Set<Operation>();
  /** Two statements may end at once, such as a commit and a statement that waited for it. */
  readonly #answers: { readonly nth: number; readonly deliver: () => void }[] = [];
  #begun = 0;
  #ended = 0;
  #wake: () => void = () => undefined;

  constructor(wait: Wait, random: Random) {
    this.#wait = wait;
    this.#random = random;
  }

  begin(about: Pick<Operation, 'label' | 'pid'>): Operation {
    const nth = ++this.#begun;
    const operation: Operation = {
      ...about,
      isBlocked: false,
      isPaused: false,
      isVictim: false,
      end: (deliver) => {
        if (!this.#operations.delete(operation)) return;
        this.#answers.push({ nth, deliver });
        this.#ended += 1;
        this.#wake();
      },
    };
    this.#operations.add(operation);
    return operation;
  }

  /** Resolves when nothing moves. Returns what to note about it, in an order that does not depend on time. */
  async settle(): Promise<string[]> {
    const blockedBefore = new Set([...this.#operations].filter(({ isBlocked }) => isBlocked));
    const notes: string[] = [];
    do {
      await this.#deliverAnswers();
      notes.push(...(await this.#settleDatabase()));
    } while (this.#answers.length > 0);
    const blocked = [...this.#operations].filter((one) => one.isBlocked && !blockedBefore.has(one));
    return [...notes, ...blocked.map(({ label }) => `${label} waits for a lock`).sort()];
  }

  /** In the order in which they began, each task as far as it comes. */
  async #deliverAnswers(): Promise<void> {
    await turn();
    for (const { deliver } of this.#answers.splice(0).sort((one, other) => one.nth - other.nth)) {
      deliver();
      await turn();
    }
  }

  async #settleDatabase(): Promise<string[]> {
    const notes: string[] = [];
    const startedMs = Date.now();
    for (let confirmed = 0; this.#operations.size > 0; ) {
      if (Date.now() - startedMs > STUCK_MS) throw new Error(`stuck: ${this.#describe()}`);
      const ended = this.#ended;
      if ([...this.#operations].some((one) => !one.isBlocked && !one.isPaused)) await this.#nextEnd();
      if (this.#ended !== ended) confirmed = 0;
      if (this.#ended !== ended || [...this.#operations].some(({ pid }) => pid === null)) continue;
      const graph = await this.#readWaits();
      const isStill =
        this.#ended === ended && [...this.#operations].every((one) => one.isBlocked || one.isPaused);
      confirmed = isStill ? confirmed + 1 : 0;
      if (confirmed < CONFIRMATIONS) continue;
      confirmed = 0;
      if (this.#resumeNext()) continue;
      const victim = this.#deadlocked(graph);
      if (!victim) break;
      notes.push(`${victim.label} is aborted: deadlock`);
      victim.isVictim = true;
      victim.isBlocked = false;
      this.#resume(victim);
      await this.#wait.cancel(victim.pid ?? 0);
    }
    this.#pauseRivals();
    return notes;
  }

  #pauseRivals(): void {
    if (this.#operations.size < 2) return;
    for (const one of this.#operations) {
      if (one.isPaused || one.pid === null) continue;
      one.isPaused = true;
      this.#wait.pause(one.pid);
    }
  }

  /** In the order in which they began to wait. Returns false if all that are paused still wait. */
  #resumeNext(): boolean {
    const next = [...this.#operations].find((one) => one.isPaused && !one.isBlocked);
    if (next) this.#resume(next);
    return next !== undefined;
  }

  #resume(operation: Operation): void {
    if (operation.isPaused && operation.pid !== null) this.#wait.resume(operation.pid);
    operation.isPaused = false;
  }

  /** Lets every session run. */
  resumeAll(): void {
    for (const one of this.#operations) this.#resume(one);
  }

  async #nextEnd(): Promise<void> {
    await runOutside(
      () =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ASK_AFTER_MS);
          this.#wake = () => {
            clearTimeout(timer);
            resolve();
          };
        }),
    );
    this.#wake = () => undefined;
  }

  async #readWaits(): Promise<ReadonlyMap<number, readonly number[]>> {
    const asked = [...this.#operations];
    const graph = await this.#wait.blockers(asked.flatMap(({ pid }) => (pid === null ? [] : [pid])));
    for (const one of asked) one.isBlocked = !one.isVictim && (graph.get(one.pid ?? 0)?.length ?? 0) > 0;
    return graph;
  }

  /** The database's own search for deadlocks depends on time. Ours chooses any session of the circle. */
  #deadlocked(graph: ReadonlyMap<number, readonly number[]>): Operation | undefined {
    const reaches = (from: number, goal: number, seen: Set<number>): boolean =>
      (graph.get(from) ?? []).some(
        (next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))),
      );
    const circle = [...this.#operations]
      .filter(({ pid }) => pid !== null && reaches(pid, pid, new Set()))
      .sort((one, other) => (one.label < other.label ? -1 : 1));
    return circle.length === 0 ? undefined : circle[this.#random.below(circle.length)];
  }

  #describe(): string {
    return [...this.#operations].map(({ label, isBlocked }) => `${label} ${isBlocked}`).join(', ');
  }
}
