/** A background duty. The runner calls `run` again and again; any number of processes may do so at once. */
export interface Job {
  readonly name: string;
  /** Does what is due now, in bounded batches. Returns how much was done or found under way elsewhere; 0 is rest. */
  run(): Promise<number>;
  /** When work falls due next on the business clock, or null when none is planned. */
  nextDue(): Promise<Date | null>;
  /**
   * Nothing that happens later hangs on it and nobody waits for it: a clock that is moved through due dates does it where
   * it arrives, not at each of them.
   */
  readonly housekeeping?: true;
  /** What it is `busy` with is answered in real time, by somebody outside: a clock that is moved waits for that at each due date. */
  readonly blocksClock?: true;
  /** Whether something is under way that will finish by itself within seconds, such as an install. */
  busy(): Promise<boolean>;
  /** It has something to do once other duties have done something: it looks then, too. */
  readonly follows?: true;
  /** There may be more to do: told while a run may be waiting for something else. */
  wake?(): void;
  /** The service stops: ends, within a few seconds, what goes on beside the runs. */
  stop?(): Promise<void>;
}
