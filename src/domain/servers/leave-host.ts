/**
 * Step `leave_host`: confirms that the server was removed from its host, then reserves another host (for a
 * dedicated server, another machine) or refunds.
 */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import type { OperationRow } from '../../store/servers/operations.ts';
import { releaseHost, reserveOtherHost, reserveOtherMachine } from '../../store/servers/placements.ts';
import { lockServer, type ServerRow } from '../../store/servers/servers.ts';
import type { Service } from '../context.ts';
import { logProvisionFailed, refundAndDestroy } from './give-up.ts';
import { releasedMachineState } from './hardware.ts';
import { confirmRemovedFromHost } from './remove.ts';
import { advance } from './step.ts';

/** Hosts to try before refunding the customer. */
const HOSTS_MAX = 5;

export async function leaveHost(service: Service, operation: OperationRow): Promise<void> {
  if (!(await confirmRemovedFromHost(service, operation))) return;
  const moved = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    // Never try a host twice, for any fault, so that the search ends.
    const previousHost = server.host_id ?? server.machine_id;
    const triedHosts =
      previousHost === null ? operation.tried_hosts : [...operation.tried_hosts, previousHost];
    const now = service.clock.now();
    await releaseHost(tx, server.id, { state: releasedMachineState(service), now });
    if (!(await allocateElsewhere(tx, server, triedHosts, now))) {
      await refundAndDestroy(service, tx, server, operation);
      return false;
    }
    await advance(tx, service, operation, { step: 'ensure', triedHosts, placedAt: now });
    return true;
  });
  crashPoint(moved ? 'provision.host_moved' : 'provision.refunded');
  if (!moved) logProvisionFailed(service, operation);
  service.wake();
}

async function allocateElsewhere(
  tx: Sql,
  server: ServerRow,
  tried: readonly string[],
  now: Date,
): Promise<boolean> {
  if (tried.length >= HOSTS_MAX) return false;
  const taken = server.machine_id
    ? await reserveOtherMachine(tx, {
        id: server.id,
        planId: server.plan_id,
        regionId: server.region_id,
        excludedMachines: tried,
        now,
      })
    : await reserveOtherHost(tx, {
        id: server.id,
        regionId: server.region_id,
        ramMb: server.ram_mb,
        diskGb: server.disk_gb,
        excludedHosts: tried,
      });
  return taken !== undefined;
}
