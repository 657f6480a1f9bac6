/** Drivers of a sandbox: simulated coins, rates, mail, and, unless machines are real, machines. */
import type { Config } from '../config.ts';
import type { Service } from '../domain/context.ts';
import { SimnetControl } from '../drivers/chain/simnet/control.ts';
import { Simnet } from '../drivers/chain/simnet/driver.ts';
import { SimulatorControl } from '../drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../drivers/faults.ts';
import { MailOutbox } from '../drivers/mail/outbox.ts';
import { FixedRates } from '../drivers/rates/fixed.ts';
import type { OffsetClock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { KeyRing } from '../kernel/secrets.ts';
import type { Database } from '../kernel/sql.ts';
import { COIN_CODES } from '../spec/coins.ts';
import { createMailer, createQemuCompute } from './drivers.ts';

/** Controls of the simulated world. */
export interface Simulation {
  readonly chains: SimnetControl;
  /** Null where the machines are real. */
  readonly compute: SimulatorControl | null;
  readonly rates: FixedRates;
  readonly faults: SqlFaults;
  readonly mails: MailOutbox;
}

export type Drivers = Pick<Service, 'compute' | 'chains' | 'rates' | 'mailer'>;

export interface SimulationDependencies {
  /** Connections of the simulated outside world, separate from the service's. */
  readonly db: Database;
  readonly clock: OffsetClock;
  readonly keys: KeyRing;
  readonly log: Logger;
}

export function createSimulation(
  config: Config,
  { db, clock, keys, log }: SimulationDependencies,
): { drivers: Drivers; controls: Simulation } {
  const faults = new SqlFaults(db);
  const blockS = config.SKERRY_SIM_BLOCK_S;
  const rates = new FixedRates({ db, clock, faults });
  const chains = COIN_CODES.map((coin) => [coin, new Simnet({ coin, db, clock, faults, blockS })] as const);
  const qemuCompute = createQemuCompute(config, log);
  const installS = config.SKERRY_SIM_INSTALL_S;
  const mails = new MailOutbox({ db, keys, faults, server: createMailer(config) });
  return {
    drivers: {
      compute: qemuCompute ?? new SimulatedCompute({ db, clock, faults, installS }),
      chains: new Map(chains),
      rates,
      mailer: mails,
    },
    controls: {
      chains: new SimnetControl({ db, clock, blockS }),
      compute: qemuCompute ? null : new SimulatorControl({ db, clock }),
      rates,
      faults,
      mails,
    },
  };
}
