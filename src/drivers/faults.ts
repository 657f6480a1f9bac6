/** Fault injection: the sandbox arms failures, and the simulated drivers consume them. */
import type { Database } from '../kernel/sql.ts';
import type { ChainDriver } from '../ports/chain.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import type { SnapshotCopies } from '../ports/copies.ts';
import type { Mailer } from '../ports/mail.ts';
import type { MachineMoves } from '../ports/moves.ts';
import type { Rates } from '../ports/rates.ts';
import { SandboxInputError } from './sandbox-input-error.ts';

export interface Faults {
  /** Returns true if this call must fail. Each armed fault fails one call. */
  consume(driver: string, operation: string): Promise<boolean>;
}

type MethodName<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Port];

/** Takes a record rather than a list, so that a missing or unknown method doesn't compile. */
function methodNames<Port>(names: Record<MethodName<Port>, true>): readonly string[] {
  return Object.keys(names);
}

/** The methods of each simulated driver that can be made to fail, by the port's own names. */
export const INJECTABLE_FAULTS: Readonly<Record<string, readonly string[]>> = {
  compute: [
    ...methodNames<ComputeDriver>({
      ensure: true,
      remove: true,
      power: true,
      observe: true,
      rebuild: true,
      restore: true,
      resize: true,
      setIso: true,
      rescue: true,
      console: true,
      sample: true,
      sampleMinutes: true,
      samplePackets: true,
      attach: true,
      detach: true,
      grow: true,
      removeVolume: true,
      snapshot: true,
      removeSnapshot: true,
      filter: true,
      traffic: true,
      list: true,
      superviseMachines: true,
      examine: true,
    }),
    ...methodNames<Required<Pick<ComputeDriver, 'readFacts'>>>({ readFacts: true }),
    ...methodNames<{ [Name in 'seizeDisk' | 'revive']: NonNullable<ComputeDriver[Name]> }>({
      seizeDisk: true,
      revive: true,
    }),
    ...methodNames<MachineMoves>({
      receive: true,
      receiveDisk: true,
      send: true,
      takeOver: true,
      keep: true,
      forget: true,
    }).map((name) => `moves.${name}`),
    ...methodNames<SnapshotCopies>({
      prepareCopy: true,
      sendCopy: true,
      forgetCopy: true,
      fetchCopy: true,
    }).map((name) => `copies.${name}`),
  ],
  chain: methodNames<ChainDriver>({
    checkSafety: true,
    allocate: true,
    poll: true,
    recheck: true,
    health: true,
    examine: true,
  }),
  rates: methodNames<Omit<Rates, 'findUnpriced'>>({ usdPerCoin: true, eurPerUsd: true }),
  mail: methodNames<Pick<Mailer, 'send'>>({ send: true }),
};

/** Faults stored in the database, so that a fault armed in one process can hit a call in any other. */
export class SqlFaults implements Faults {
  readonly #db: Database;
  constructor(db: Database) {
    this.#db = db;
  }

  /** With nothing armed, this is one index lookup without a write. */
  async consume(driver: string, operation: string): Promise<boolean> {
    const taken = await this.#db.run(
      `update sim.faults set remaining = remaining - 1
       where driver = $1 and operation = $2 and remaining > 0`,
      [driver, operation],
    );
    return taken > 0;
  }

  /**
   * Makes the next `times` calls fail, replacing any previous count; 0 clears it. Throws SandboxInputError
   * for a driver or operation not in INJECTABLE_FAULTS, RangeError for an invalid `times`.
   */
  async set(input: { driver: string; operation: string; times: number }): Promise<void> {
    const { driver, operation, times } = input;
    const operations = Object.hasOwn(INJECTABLE_FAULTS, driver) ? INJECTABLE_FAULTS[driver] : undefined;
    if (!operations) throw unknownFault('driver', Object.keys(INJECTABLE_FAULTS));
    if (!operations.includes(operation)) throw unknownFault('operation', operations);
    if (!Number.isSafeInteger(times) || times < 0)
      throw new RangeError('times must be a non-negative whole number');
    await this.#db.run(
      `insert into sim.faults (driver, operation, remaining) values ($1, $2, $3)
       on conflict (driver, operation) do update set remaining = excluded.remaining`,
      [driver, operation, times],
    );
  }
}

function unknownFault(field: 'driver' | 'operation', allowed: readonly string[]): SandboxInputError {
  return new SandboxInputError(field, `${field} must be one of ${allowed.join(', ')}`, allowed);
}
