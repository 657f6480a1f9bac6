/**
 * Provisioning, step by step. Every step may run twice: the driver's verbs are *ensure*, and only the holder
 * of the operation's lease writes what a step found.
 *
 *   ensure ── created ───────────→ observe ── running ──→ done
 *     │ │ host fault                  │ silent or too slow (lost: ensure again)
 *     │ └──────→ leave_host ←─────────┘
 *     │            │ machine is off the host: another host → ensure; none left → refund, remove
 *     └ refused ─→ give_up
 *                  │ machine is off the host → refund, `destroying`, remove
 *
 * The old host must confirm that it does not have the machine before another host creates it: two machines
 * with one address would be worse than a delay.
 */
import { crashPoint } from '../../kernel/crash.ts';
import type { ComputeFault } from '../../ports/compute.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import type { OperationRow } from '../../store/servers/operations.ts';
import { findBuildDetails } from '../../store/servers/placements.ts';
import { lockServer, setServerStatus } from '../../store/servers/servers.ts';
import type { Service } from '../context.ts';
import { callDriver } from './driver-call.ts';
import { ENSURE_TIMEOUT_MS } from './driver-timeout.ts';
import { POLL_INTERVAL_MS } from './inspect-machines.ts';
import { buildMachineSpec } from './machine-spec.ts';
import { advance, retryWithBackoff, type StepResult } from './step.ts';

/** Consecutive transient faults after which a host counts as unable. */
const TRANSIENT_ATTEMPTS_MAX = 5;

/** Step `ensure`: creates the machine on its host and starts its install. */
export async function ensureMachine(service: Service, operation: OperationRow): Promise<void> {
  crashPoint('provision.begun');
  const facts = await findBuildDetails(service.db, operation.server_id);
  if (!facts?.host) return await advance(service.db, service, operation, { step: 'leave_host' });
  const machine = { id: operation.server_id, host: facts.host, generation: facts.generation };
  const spec = buildMachineSpec(service, machine, facts);
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => service.compute.ensure(spec),
    failureMessage: 'machine could not be created',
  });
  crashPoint('provision.ensured');
  if (fault === null) return await recordInstalling(service, operation);
  await advance(service.db, service, operation, {
    ...nextStepAfterFault(service, operation, fault.fault),
    fault: fault.message,
  });
  crashPoint('provision.host_failed');
}

function nextStepAfterFault(service: Service, operation: OperationRow, fault: ComputeFault): StepResult {
  // Every host would refuse for the same reason, so do not try another one.
  if (fault === 'refused') return { step: 'give_up' };
  if (fault === 'transient' && operation.attempts + 1 < TRANSIENT_ATTEMPTS_MAX)
    return retryWithBackoff(service, operation);
  return { step: 'leave_host' };
}

async function recordInstalling(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (server.status === 'provisioning') {
      const { to } = findTransition(SERVER_TRANSITIONS, 'provisioning', 'install_begins');
      await setServerStatus(tx, { id: server.id, status: to, now });
    }
    await advance(tx, service, operation, { step: 'observe', inMs: POLL_INTERVAL_MS });
  });
  crashPoint('provision.install_recorded');
}
