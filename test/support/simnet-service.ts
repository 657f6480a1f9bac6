/** The service of a top-up world on the simulated networks, with blocks on demand. */
import type { Service } from '../../src/domain/context.ts';
import { SimnetControl } from '../../src/drivers/chain/simnet/control.ts';
import { Simnet } from '../../src/drivers/chain/simnet/driver.ts';
import { SqlFaults } from '../../src/drivers/faults.ts';
import { FixedRates } from '../../src/drivers/rates/fixed.ts';
import { COIN_CODES } from '../../src/spec/coins.ts';
import type { TopupWorld } from './topup-world.ts';

export function createSimnetService(world: TopupWorld): { service: Service; control: SimnetControl } {
  const { db, clock } = world;
  const faults = new SqlFaults(db);
  const chains = new Map(
    COIN_CODES.map((coin) => [coin, new Simnet({ coin, db, clock, faults, blockS: 0 })]),
  );
  const service = { ...world.service, chains, rates: new FixedRates({ db, clock, faults }) };
  return { service, control: new SimnetControl({ db, clock, blockS: 0 }) };
}
