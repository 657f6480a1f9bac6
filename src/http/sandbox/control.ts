/** The verbs of a sandbox. `/sandbox/*` and the buttons of the payment page call them. */

/** A sandbox user's controls over the simulated world. Invalid input fails with `bad_request` and a field. */
export interface SandboxControl {
  pay(input: { coin: string; address: string; amount: string }): Promise<{ txid: string }>;
  mine(input: { coin: string; count: number }): Promise<{ height: number }>;
  reorg(input: { coin: string; depth: number; drop: boolean }): Promise<{ height: number; removed: number }>;
  setRate(input: { coin: string; usd: string }): Promise<void>;
  /** Arms a fault of a simulated driver; `times` 0 clears it. */
  setFault(input: { driver: string; operation: string; times: number }): Promise<void>;
  /** Returns mails sent to customers, oldest first: the newest 100, or those to one address. */
  readMails(
    to: string | null,
  ): Promise<{ mails: readonly { readonly to: string; readonly subject: string; readonly text: string }[] }>;
  /** Advances the clock one due date at a time, finishing the work of each, and returns the new time. */
  advanceClock(ms: number): Promise<Date>;
  /** Waits until no due work remains. */
  settle(): Promise<void>;
}
