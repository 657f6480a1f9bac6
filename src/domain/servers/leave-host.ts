/** Step `leave_host`: the machine is off its host, and another host is taken, or everything is given back. */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockBalance } from '../../store/ledger.ts';
import type { OperationRow } from '../../store/operations.ts';
import { releaseHost, takeOtherHost, takeOtherMachine } from '../../store/places.ts';
import { lockServer, type ServerRow } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { refund, tellGivenUp } from './give-up.ts';
import { releasedMachine } from './hardware.ts';
import { offItsHost } from './remove.ts';
import { advance } from './step.ts';

/** Hosts tried before the customer gets the money back. */
const HOSTS_MAX = 5;

export async function leaveHost(service: Service, operation: OperationRow): Promise<void> {
  if (!(await offItsHost(service, operation))) return;
  const moved = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    // Whatever it is left for, a host is not tried twice: so the search ends.
    const left = server.host_id ?? server.machine_id;
    const triedHosts = left === null ? operation.tried_hosts : [...operation.tried_hosts, left];
    const now = service.clock.now();
    await releaseHost(tx, server.id, { state: releasedMachine(service), now });
    if (!(await takeOtherPlace(tx, server, triedHosts, now))) {
      await refund(service, tx, server, operation);
      return false;
    }
    await advance(tx, service, operation, { step: 'ensure', triedHosts, placedAt: now });
    return true;
  });
  crashPoint(moved ? 'provision.host_moved' : 'provision.refunded');
  if (!moved) tellGivenUp(service, operation);
  service.wake();
}

async function takeOtherPlace(
  tx: Sql,
  server: ServerRow,
  tried: readonly string[],
  now: Date,
): Promise<boolean> {
  if (tried.length >= HOSTS_MAX) return false;
  const taken = server.machine_id
    ? await takeOtherMachine(tx, {
        id: server.id,
        planId: server.plan_id,
        regionId: server.region_id,
        notMachines: tried,
        now,
      })
    : await takeOtherHost(tx, {
        id: server.id,
        regionId: server.region_id,
        ramMb: server.ram_mb,
        diskGb: server.disk_gb,
        notHosts: tried,
      });
  return taken !== undefined;
}
