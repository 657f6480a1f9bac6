/**
 * Provisioning, step by step. Every step may run twice: the driver's verbs say *ensure*, and what a step found
 * is written only by the holder of the operation's lease.
 *
 *   ensure ── made ──────────────→ observe ── running ──→ done
 *     │ │ host cannot                 │ silent or too slow (lost: ensure again)
 *     │ └──────→ leave_host ←─────────┘
 *     │            │ machine is off the host: another host → ensure; none left → refund, `destroying`, remove
 *     └ refused ─→ give_up
 *                  │ machine is off the host → refund, `destroying`, remove
 *
 * The old host must confirm that it has no such machine before another host makes one: two machines with one
 * address would be worse than a late one.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { ComputeError, type ComputeFault, type MachineSpec } from '../../ports/compute.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import type { OperationRow } from '../../store/operations.ts';
import { type BuildFacts, findBuildFacts } from '../../store/places.ts';
import { lockServer, setServerStatus } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { serverIpv6 } from './object.ts';
import { advance, faultText, type StepResult, shownOperation, soonAgain } from './step.ts';
import { answerWithin, ENSURE_MAX_MS } from './within.ts';

/** A host that fails this often in a row, for reasons that might pass, counts as refusing. */
const TRANSIENT_MAX = 5;
/** How soon an install is looked at again. */
export const OBSERVE_EVERY_MS = 500;

/** Step `ensure`: the machine exists on its host and its install has begun. */
export async function ensureMachine(service: Service, operation: OperationRow): Promise<void> {
  crashPoint('provision.begun');
  const facts = await findBuildFacts(service.db, operation.server_id);
  if (!facts?.host) return await advance(service.db, service, operation, { step: 'leave_host' });
  const spec = machineSpec(service, operation.server_id, facts, facts.host);
  const failed = await tryEnsure(service, operation, spec);
  crashPoint('provision.ensured');
  if (failed === null) return await recordInstalling(service, operation);
  await advance(service.db, service, operation, {
    ...afterFault(service, operation, failed.fault),
    fault: failed.message,
  });
  crashPoint('provision.host_failed');
}

function afterFault(service: Service, operation: OperationRow, fault: ComputeFault): StepResult {
  // A refusal would be the same everywhere: no other host is tried.
  if (fault === 'refused') return { step: 'give_up' };
  if (fault === 'transient' && operation.attempts + 1 < TRANSIENT_MAX) return soonAgain(service, operation);
  return { step: 'leave_host' };
}

async function tryEnsure(
  service: Service,
  operation: OperationRow,
  spec: MachineSpec,
): Promise<Pick<ComputeError, 'fault' | 'message'> | null> {
  try {
    await answerWithin(ENSURE_MAX_MS, service.compute.ensure(spec));
    return null;
  } catch (error) {
    service.log.warn({ err: error, ...shownOperation(operation) }, 'machine could not be made');
    return { fault: error instanceof ComputeError ? error.fault : 'transient', message: faultText(error) };
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
    await advance(tx, service, operation, { step: 'observe', inMs: OBSERVE_EVERY_MS });
  });
  crashPoint('provision.install_recorded');
}

function machineSpec(service: Service, id: string, facts: BuildFacts, host: string): MachineSpec {
  const open = (purpose: string, sealed: string | null) =>
    sealed === null ? null : service.keys.open(purpose, sealed);
  return {
    id,
    host,
    generation: 1,
    hostname: facts.hostname,
    cpu: facts.cpu,
    ramMb: facts.ram_mb,
    diskGb: facts.disk_gb,
    image: {
      id: facts.image_id,
      family: facts.family,
      version: facts.version,
      cloudInit: facts.cloud_init,
      iso: null,
    },
    ipv4: { address: facts.ipv4, gateway: facts.gateway },
    ipv6: { address: serverIpv6(facts.ipv6_prefix), prefix: facts.ipv6_prefix },
    sshKeys: [],
    rootPasswordHash: open('root password', facts.root_password_sealed)?.toString('utf8') ?? null,
    userData: open('user data', facts.user_data_sealed),
  };
}
