/**
 * Provisioning, step by step. Every step may run twice: the driver's verbs say *ensure*, and what a step found
 * is written only by the holder of the operation's lease.
 *
 *   ensure ── made ──────────────→ observe ── running ──→ done
 *     │ host refuses                  │ lost, silent or too slow
 *     └────────→ leave_host ←─────────┘
 *                  │ machine is off the host: another host → ensure; none left → refund, `destroying`, remove
 *
 * The old host must confirm that it has no such machine before another host makes one: two machines with one
 * address would be worse than a late one.
 */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import { ComputeError, type MachineSpec } from '../../ports/compute.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { lockBalance } from '../../store/ledger.ts';
import { advanceOperation, holdsLease, type OperationRow } from '../../store/operations.ts';
import {
  type BuildFacts,
  findBuildFacts,
  releaseHost,
  takeOtherHost,
  takeOtherMachine,
} from '../../store/places.ts';
import { lockServer, type ServerRow, setServerStatus } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { giveUp } from './give-up.ts';
import { serverIpv6 } from './object.ts';
import { lostLease, type StepResult, soonAgain } from './step.ts';

/** A host that fails this often in a row, for reasons that might pass, counts as refusing. */
const TRANSIENT_MAX = 5;
/** Hosts tried before the customer gets the money back. */
const HOSTS_MAX = 5;
/** How soon an install is looked at again. */
export const OBSERVE_EVERY_MS = 500;

/** Step `ensure`: the machine exists on its host and its install has begun. */
export async function ensureMachine(service: Service, operation: OperationRow): Promise<void> {
  crashPoint('provision.begun');
  const facts = await findBuildFacts(service.db, operation.server_id);
  if (!facts?.host) return await advance(service, operation, { step: 'leave_host' });
  const fault = await tryEnsure(service, machineSpec(service, operation.server_id, facts, facts.host));
  crashPoint('provision.ensured');
  if (fault === null) return await recordInstalling(service, operation);
  if (fault === 'transient' && operation.attempts + 1 < TRANSIENT_MAX) {
    return await advance(service, operation, soonAgain(service, operation));
  }
  // A refusal would be the same everywhere: no other host is tried.
  await advance(service, operation, { step: 'leave_host', attempts: fault === 'refused' ? REFUSED : 0 });
  crashPoint('provision.host_failed');
}

/** In `attempts` of step leave_host: no other host would do. */
const REFUSED = 1_000;

/** Step `leave_host`: the machine is off its host, and another host is taken, or everything is given back. */
export async function leaveHost(service: Service, operation: OperationRow): Promise<void> {
  // A holder that overslept must not remove what its successor has made on another host by now.
  if (!(await holdsLease(service.db, operation))) lostLease();
  try {
    await service.compute.remove(operation.server_id);
  } catch {
    return await advance(service, operation, soonAgain(service, operation));
  }
  const refused = operation.attempts >= REFUSED;
  const moved = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    // Whatever it is left for, a host is not tried twice: so the search ends.
    const left = server.host_id ?? server.machine_id;
    const triedHosts = left === null ? operation.tried_hosts : [...operation.tried_hosts, left];
    if (refused || !(await takeOtherPlace(tx, server, triedHosts))) {
      await giveUp(service, tx, server, operation);
      return false;
    }
    await write(tx, service, operation, { step: 'ensure', triedHosts });
    return true;
  });
  crashPoint(moved ? 'provision.host_moved' : 'provision.refunded');
  service.wake();
}

async function takeOtherPlace(tx: Sql, server: ServerRow, tried: readonly string[]): Promise<boolean> {
  await releaseHost(tx, server.id);
  if (tried.length >= HOSTS_MAX) return false;
  const taken = server.machine_id
    ? await takeOtherMachine(tx, {
        id: server.id,
        planId: server.plan_id,
        regionId: server.region_id,
        notMachines: tried,
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

async function tryEnsure(service: Service, spec: MachineSpec): Promise<ComputeError['fault'] | null> {
  try {
    await service.compute.ensure(spec);
    return null;
  } catch (error) {
    if (error instanceof ComputeError) return error.fault;
    service.log.warn({ err: error }, 'compute driver failed');
    return 'transient';
  }
}

async function recordInstalling(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (server.status === 'provisioning') {
      const { to } = move(SERVER_TRANSITIONS, 'provisioning', 'install_begins');
      await setServerStatus(tx, { id: server.id, status: to, now });
    }
    await write(tx, service, operation, { step: 'observe', inMs: OBSERVE_EVERY_MS });
  });
  crashPoint('provision.install_recorded');
}

async function advance(service: Service, operation: OperationRow, result: StepResult): Promise<void> {
  await write(service.db, service, operation, result);
}

async function write(tx: Sql, service: Service, operation: OperationRow, result: StepResult): Promise<void> {
  const ours = await advanceOperation(tx, {
    ...operation,
    step: result.step ?? operation.step,
    attempts: result.attempts ?? 0,
    tried_hosts: result.triedHosts ? [...result.triedHosts] : operation.tried_hosts,
    due_at: new Date(service.clock.now().getTime() + (result.inMs ?? 0)),
  });
  if (!ours) lostLease();
}

function machineSpec(service: Service, id: string, facts: BuildFacts, host: string): MachineSpec {
  const open = (purpose: string, sealed: string | null) =>
    sealed === null ? null : service.keys.open(purpose, sealed);
  return {
    id,
    host,
    hostname: facts.hostname,
    cpu: facts.cpu,
    ramMb: facts.ram_mb,
    diskGb: facts.disk_gb,
    image: { id: facts.image_id, family: facts.family, version: facts.version, cloudInit: facts.cloud_init },
    ipv4: { address: facts.ipv4, gateway: facts.gateway },
    ipv6: { address: serverIpv6(facts.ipv6_prefix), prefix: facts.ipv6_prefix },
    sshKeys: [],
    rootPasswordHash: open('root password', facts.root_password_sealed)?.toString('utf8') ?? null,
    userData: open('user data', facts.user_data_sealed),
  };
}
