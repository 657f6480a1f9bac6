/**
 * Compares machines with their servers. Never creates or deletes a machine: unknown machines are reported to
 * the operator, and only unambiguous differences are repaired (decision 14). Servers with an operation under
 * way are skipped, and a machine is touched only after two consecutive inspections agree.
 */
import { formatId } from '../../../kernel/ids.ts';
import type { MachineState } from '../../../ports/compute.ts';
import { listBlocks } from '../../../store/inventory/addresses.ts';
import {
  type Finding,
  type FindingKind,
  findServerIds,
  type IdleServerRow,
  listFindings,
  listIdleServers,
} from '../../../store/servers/findings.ts';
import type { Service } from '../../context.ts';
import { recheckAttachedVolumes } from '../../volumes/attach.ts';
import { isSoldByHand } from '../hardware.ts';
import { withDriverTimeout } from '../operations/driver-call.ts';
import { isServerId, reportFindings } from './findings.ts';
import {
  adoptDiskGeneration,
  isPoweredOn,
  isShutDownByGuest,
  powerOffSuspended,
  recordGuestShutdown,
} from './repair.ts';

const BATCH_SIZE = 200;
/** Most unknown machines to look up the host of. */
const UNKNOWN_OBSERVED_MAX = 100;
/** Most machines whose restart failed: their guests did not shut themselves down. */
const FAILING_MAX = 1_000;

const RECONCILED_KINDS = ['lost_machine', 'guest_off', 'should_be_off', 'runs_stopped'] as const;

/**
 * Inspects every machine once. If the driver does not answer for a machine, its findings stay as they are.
 */
export async function reconcileMachines(service: Service): Promise<void> {
  await findUnknownMachines(service);
  const failing = await listFindings(service.db, {
    kinds: ['failing_machine'],
    minLooks: 1,
    limit: FAILING_MAX,
  });
  const failingIds = new Set(failing.map(({ subject }) => subject));
  const findings: Finding[] = [];
  const unobserved: string[] = [];
  const includeDedicated = !isSoldByHand(service, 'dedicated');
  for (let after: string | null = null; ; ) {
    const page = { after, includeDedicated, limit: BATCH_SIZE };
    const servers: IdleServerRow[] = await listIdleServers(service.db, page);
    const states = await observe(service, servers);
    for (const server of servers) {
      const seen = states.get(server.id);
      if (!seen || seen.state === 'unknown') unobserved.push(server.id);
      const disk = seen?.generation ?? 0;
      if (disk > server.generation) await adoptDiskGeneration(service, server.id, disk);
      const kind = !seen || failingIds.has(server.id) ? null : detectFinding(server.status, seen);
      if (kind) findings.push({ kind, subject: server.id, host: server.host });
    }
    after = servers.at(-1)?.id ?? null;
    if (servers.length < BATCH_SIZE) break;
  }
  const confirmed = await reportFindings(service, { kinds: RECONCILED_KINDS, findings, unobserved });
  for (const { kind, subject } of confirmed) {
    if (kind === 'guest_off') await recordGuestShutdown(service, subject);
    if (kind === 'should_be_off') await powerOffSuspended(service, subject);
  }
}

function detectFinding(status: IdleServerRow['status'], seen: MachineState): FindingKind | null {
  if (seen.state === 'absent') return 'lost_machine';
  if (status === 'running') return isShutDownByGuest(seen) ? 'guest_off' : null;
  if (!isPoweredOn(seen)) return null;
  return status === 'suspended' ? 'should_be_off' : 'runs_stopped';
}

/** Finds machines without a server. Lists machines first, so that a server being created is already known. */
async function findUnknownMachines(service: Service): Promise<void> {
  const listed = await withDriverTimeout(service.compute.list());
  const known = new Set(await findServerIds(service.db, listed.filter(isServerId)));
  const unknownIds = listed.filter((id) => !known.has(id));
  const hosts = new Map<string, string | null>();
  if (unknownIds.length > 0) {
    const asked = service.compute.observe(unknownIds.slice(0, UNKNOWN_OBSERVED_MAX));
    for (const { id, host } of await withDriverTimeout(asked)) hosts.set(id, host);
  }
  const kind = 'unknown_machine';
  const findings = unknownIds.map(
    (subject) => ({ kind, subject, host: hosts.get(subject) ?? null }) as const,
  );
  await reportFindings(service, { kinds: [kind], findings });
}

/** Returns an empty map if the driver did not answer. */
async function observe(
  service: Service,
  servers: readonly IdleServerRow[],
): Promise<Map<string, MachineState>> {
  if (servers.length === 0) return new Map();
  try {
    const asked = service.compute.observe(servers.map(({ id }) => id));
    const states = await withDriverTimeout(asked);
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    service.log.warn({ err: error, servers: servers.length }, 'machines could not be observed');
    return new Map();
  }
}

/**
 * The driver restarts machines that should be on, and the consequences are handled here. Throws if it does
 * not answer, because the state of the machines is unknown then.
 */
export async function superviseMachines(service: Service): Promise<void> {
  const blocks = (await listBlocks(service.db)).map(({ block }) => block);
  const outcomes = await withDriverTimeout(service.compute.superviseMachines(blocks));
  const restarted = outcomes.filter(({ outcome }) => outcome === 'restarted');
  for (const { id, message } of restarted) {
    const machine = isServerId(id) ? formatId('server', id) : id;
    service.log.warn({ machine, says: message }, 'machine was restarted');
  }
  const serverIds = restarted.map(({ id }) => id).filter(isServerId);
  if (await recheckAttachedVolumes(service.db, serverIds, service.clock.now())) service.wake();
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  const kind = 'failing_machine';
  const findings = failed.map(({ id, message: says }) => ({ kind, subject: id, host: null, says }) as const);
  await reportFindings(service, { kinds: [kind], findings });
  const off = outcomes.filter(({ outcome }) => outcome === 'off');
  // A server with an operation under way is left to that operation.
  for (const { id } of off) if (isServerId(id)) await recordGuestShutdown(service, id);
}
