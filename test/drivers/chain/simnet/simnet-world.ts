/** A database with the simulated networks, and a clock that the test moves. */
import { SimnetControl } from '../../../../src/drivers/chain/simnet/control.ts';
import { Simnet } from '../../../../src/drivers/chain/simnet/driver.ts';
import type { Faults } from '../../../../src/drivers/faults.ts';
import type { Database } from '../../../../src/kernel/sql.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import type { CoinCode } from '../../../../src/spec/coins.ts';
import { openScratchDatabase } from '../../../support/database.ts';

export class ManualClock {
  time = new Date('2026-03-01T12:00:00Z');
  now(): Date {
    return new Date(this.time);
  }
  advanceS(seconds: number): void {
    this.time = new Date(this.time.getTime() + seconds * 1000);
  }
}

export const NO_FAULTS: Faults = { consume: async () => false };

export interface SimnetWorld {
  readonly db: Database;
  readonly clock: ManualClock;
  /** Mines on demand. */
  readonly control: SimnetControl;
  network(coin: CoinCode): Simnet;
  /** Returns a new deposit address. */
  address(coin: CoinCode): Promise<string>;
  close(): Promise<void>;
}

export async function simnetWorld(): Promise<SimnetWorld> {
  const { db, close } = await openScratchDatabase();
  const clock = new ManualClock();
  let invoices = 0;
  const network = (coin: CoinCode) => new Simnet({ coin, db, clock, faults: NO_FAULTS, blockS: 0 });
  return {
    db,
    clock,
    control: new SimnetControl({ db, clock, blockS: 0 }),
    network,
    address: async (coin) => {
      const index = invoices++;
      return (await network(coin).allocate({ id: `invoice-${index}`, index, amountUnits: 1n })).address;
    },
    close,
  };
}

/** The latest observation of each transaction. */
export class Poller {
  readonly picture = new Map<string, Observation>();
  cursor: string | null = null;
  readonly #network: Simnet;
  constructor(network: Simnet) {
    this.#network = network;
  }
  async poll(): Promise<Observation[]> {
    const { cursor, observations } = await this.#network.poll({ cursor: this.cursor });
    this.cursor = cursor;
    for (const observation of observations) this.picture.set(observation.txid, observation);
    return observations;
  }
}
