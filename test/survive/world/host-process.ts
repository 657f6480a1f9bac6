/**
 * A host as a process of its own, as `skerryd host` is, with simulated machines in place of QEMU. They are in
 * a database that only it reaches: its disk. SURVIVE_HOST has its options.
 */
import { readMembership } from '../../../src/compose/host-files.ts';
import { loadConfig } from '../../../src/config.ts';
import { startHostServer } from '../../../src/drivers/compute/host/server.ts';
import { SimulatorControl } from '../../../src/drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../../src/drivers/faults.ts';
import { createLogger } from '../../../src/kernel/logger.ts';
import { openDatabase } from '../../../src/store/db.ts';

export interface HostOptions {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly database: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  readonly size: { readonly cpu: number; readonly ramMb: number; readonly diskGb: number };
}

const INSTALL_S = 0.3;

const options: HostOptions = JSON.parse(process.env.SURVIVE_HOST ?? '');
const db = openDatabase(options.database, { poolSize: 4, onError: () => undefined });
const clock = { now: () => new Date() };
await new SimulatorControl({ db, clock }).addHost({ name: options.name, ...options.size });
const server = await startHostServer({
  driver: new SimulatedCompute({ db, clock, faults: new SqlFaults(db), installS: INSTALL_S }),
  membership: readMembership(loadConfig({ SKERRY_DATA_DIR: options.folder })),
  listen: { host: '127.0.0.1', port: options.port },
  log: createLogger('silent'),
});
process.stdout.write(`the host listens on port ${server.port}\n`);
