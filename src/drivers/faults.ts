/** Failures on demand: the sandbox arms them, the simulated drivers meet them. */
import type { Database } from '../kernel/sql.ts';
import type { ChainDriver } from '../ports/chain.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import type { Mailer } from '../ports/mail.ts';
import type { Rates } from '../ports/rates.ts';

export interface Faults {
  /** True when this call must fail. Each armed fault fails one call. */
  consume(driver: string, operation: string): Promise<boolean>;
}

type MethodName<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Port];

/** A record and not a list, so that a verb missing from it or unknown to the port does not compile. */
function methodNames<Port>(names: Record<MethodName<Port>, true>): readonly string[] {
  return Object.keys(names);
}

/** Each simulated driver's verbs that can be made to fail, by the port's own names. */
export const INJECTABLE_FAULTS: Readonly<Record<string, readonly string[]>> = {
  compute: methodNames<ComputeDriver>({
    ensure: true,
    remove: true,
    power: true,
    observe: true,
    rebuild: true,
    restore: true,
    rescue: true,
    console: true,
    sample: true,
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
  chain: methodNames<ChainDriver>({
    checkSafety: true,
    allocate: true,
    poll: true,
    recheck: true,
    health: true,
    examine: true,
  }),
  rates: methodNames<Rates>({ usdPerCoin: true, eurPerUsd: true }),
  mail: methodNames<Pick<Mailer, 'send'>>({ send: true }),
};

/** The fault asked for does not exist. `field` is the word that is wrong, `allowed` what it may be. */
export class UnknownFault extends Error {
  readonly field: 'driver' | 'operation';
  readonly allowed: readonly string[];
  constructor(field: 'driver' | 'operation', allowed: readonly string[]) {
    super(`${field} must be one of ${allowed.join(', ')}`);
    this.name = 'UnknownFault';
    this.field = field;
    this.allowed = allowed;
  }
}

/** Faults kept in the database, so that one armed in any process is met by whichever process calls next. */
export class SqlFaults implements Faults {
  readonly #db: Database;
  constructor(db: Database) {
    this.#db = db;
  }

  /** With nothing armed this is one look at an index and writes nothing. */
  async consume(driver: string, operation: string): Promise<boolean> {
    const taken = await this.#db.run(
      'update sim.faults set remaining = remaining - 1 where driver = $1 and operation = $2 and remaining > 0',
      [driver, operation],
    );
    return taken > 0;
  }

  /**
   * Makes the next `times` calls fail, instead of whatever was armed before; 0 clears.
   * Throws UnknownFault for a driver or operation not in FAULTS, RangeError for `times` that is no count.
   */
  async set(input: { driver: string; operation: string; times: number }): Promise<void> {
    const { driver, operation, times } = input;
    const operations = Object.hasOwn(INJECTABLE_FAULTS, driver) ? INJECTABLE_FAULTS[driver] : undefined;
    if (!operations) throw new UnknownFault('driver', Object.keys(INJECTABLE_FAULTS));
    if (!operations.includes(operation)) throw new UnknownFault('operation', operations);
    if (!Number.isSafeInteger(times) || times < 0) throw new RangeError('times must be a count');
    await this.#db.run(
      `insert into sim.faults (driver, operation, remaining) values ($1, $2, $3)
       on conflict (driver, operation) do update set remaining = excluded.remaining`,
      [driver, operation, times],
    );
  }
}
