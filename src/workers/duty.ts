/** A background duty. The runner calls `run` again and again; any number of processes may do so at once. */
export interface Duty {
  readonly name: string;
  /** Does what is due now, in bounded batches. Returns how much was done or found under way elsewhere; 0 is rest. */
  run(): Promise<number>;
  /** When work falls due next on the business clock, or null when none is planned. */
  nextDue(): Promise<Date | null>;
  /** Whether something is under way that will finish by itself within seconds, such as an install. */
  busy(): Promise<boolean>;
}
