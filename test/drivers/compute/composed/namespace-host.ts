/** A host in a network namespace: a simulator behind TLS. It tells its port, and ends with its parent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { HostMembership, type Membership } from '../../../../src/drivers/compute/host/membership.ts';
import { startHostServer } from '../../../../src/drivers/compute/host/server.ts';
import { SimulatedCompute } from '../../../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../../../src/drivers/faults.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { type ConnectionSettings, openDatabase } from '../../../../src/store/db.ts';
import { INSTALL_S } from '../simulator/simulator-world.ts';
import type { HostSettings } from './namespaces.ts';

const settings = JSON.parse(process.env.SKERRY_TEST_HOST ?? '') as HostSettings;
const db = openDatabase(settings.connection as ConnectionSettings, { poolSize: 4 });
const clock = { now: () => new Date(Number(readFileSync(settings.clockFile, 'utf8'))) };
const server = await startHostServer({
  driver: new SimulatedCompute({ db, clock, faults: new SqlFaults(db), installS: INSTALL_S }),
  membership: new HostMembership(settings.membership as Membership, () => assert.fail('nothing renews it')),
  listen: { host: settings.address, port: 0 },
  log: createLogger('silent'),
});
process.on('disconnect', () => process.exit(0));
process.send?.(server.port);
