/** A simulated world for a test: its own database, and a clock that the test moves. */
import assert from 'node:assert/strict';
import { SimulatorControl } from '../../../../src/drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../../../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../../../src/drivers/faults.ts';
import type { Clock } from '../../../../src/kernel/clock.ts';
import type { Database } from '../../../../src/kernel/sql.ts';
import type { MachineState } from '../../../../src/ports/compute.ts';
import type { ConnectionSettings } from '../../../../src/store/db.ts';
import { openScratchDatabase } from '../../../support/database.ts';

export const INSTALL_S = 90;

export class SteppedClock implements Clock {
  #nowMs = Date.UTC(2030, 0, 31, 12);
  now(): Date {
    return new Date(this.#nowMs);
  }
  advanceS(seconds: number): void {
    this.#nowMs += Math.round(seconds * 1000);
  }
  moveTo(moment: Date): void {
    this.#nowMs = moment.getTime();
  }
}

export interface SimulatedWorld {
  readonly db: Database;
  readonly connection: ConnectionSettings;
  readonly clock: SteppedClock;
  readonly faults: SqlFaults;
  readonly control: SimulatorControl;
  readonly driver: SimulatedCompute;
  /** Returns another driver on the same world, as another process would have it. */
  newDriver(): SimulatedCompute;
  /** Returns the state of one machine as the driver reports it. */
  state(id: string): Promise<MachineState['state'] | undefined>;
  /** Moves the clock from one due time to the next until the machine has this state. */
  waitForState(id: string, state: MachineState['state']): Promise<void>;
  /** Moves the clock in the same way until the condition holds. */
  eventually(reached: () => Promise<boolean>): Promise<void>;
  close(): Promise<void>;
}

export async function simulatedWorld(): Promise<SimulatedWorld> {
  const { db, connection, close } = await openScratchDatabase();
  const clock = new SteppedClock();
  const faults = new SqlFaults(db);
  const control = new SimulatorControl({ db, clock });
  const newDriver = () => new SimulatedCompute({ db, clock, faults, installS: INSTALL_S });
  const driver = newDriver();
  const state = async (id: string) => (await driver.observe([id]))[0]?.state;
  async function eventually(reached: () => Promise<boolean>): Promise<void> {
    while (!(await reached())) {
      const due = await control.nextDue();
      assert.ok(due, 'nothing is in progress that could change the condition');
      clock.moveTo(due);
    }
  }
  const waitForState = (id: string, wanted: MachineState['state']) =>
    eventually(async () => (await state(id)) === wanted);
  return {
    ...{ db, connection, clock, faults, control, driver, newDriver },
    ...{ state, waitForState, eventually, close },
  };
}
