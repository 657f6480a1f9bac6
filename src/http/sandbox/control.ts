/** What a sandbox lets its user do to the simulated world. Input that does not fit fails with `bad_request` and a field. */
export interface SandboxControl {
  pay(input: { coin: string; address: string; amount: string }): Promise<{ txid: string }>;
  mine(input: { coin: string; count: number }): Promise<{ height: number }>;
  reorg(input: { coin: string; depth: number; drop: boolean }): Promise<{ height: number; removed: number }>;
  setRate(input: { coin: string; usd: string }): Promise<void>;
  /** Arms a fault of a simulated driver; `times` 0 clears it. */
  setFault(input: { driver: string; operation: string; times: number }): Promise<void>;
  /** What customers were mailed, oldest first: the newest 100, of one address when it is given. */
  readMails(
    to: string | null,
  ): Promise<{ mails: readonly { readonly to: string; readonly subject: string; readonly text: string }[] }>;
  /** Moves the clock due date by due date, the work of each to rest, and returns the time it is then. */
  advanceClock(ms: number): Promise<Date>;
  /** Waits until no due work is left. */
  settle(): Promise<void>;
}
