/**
 * Whether the machines are as the service means them to be. Nothing is deleted and nothing is made: what nobody knows is
 * told to the operator, and of the rest only what cannot be wrong is put right (decision 14). What is being done to a
 * server is not looked at, and nothing is done to a machine before it was so in two looks in a row.
 */
import type { MachineState } from '../../ports/compute.ts';
import {
  type FindingKind,
  type Found,
  findServerIds,
  listFindings,
  listSettledServers,
  type SettledServerRow,
} from '../../store/findings.ts';
import type { Service } from '../context.ts';
import { isServerId, keepFindings } from './found.ts';
import { isSoldByHand } from './hardware.ts';
import { adoptDisk, guestWentOff, isOn, isSwitchedOff, switchOffAgain } from './put-right.ts';
import { ANSWER_MAX_MS, answerWithin } from './within.ts';

const BATCH = 200;
/** Machines of nobody whose host is asked for. */
const STRANGERS_ASKED = 100;
/** Machines that could not be switched on: their guests did not go off by themselves. */
const FAILING_MAX = 1_000;

const KINDS: readonly FindingKind[] = ['lost_machine', 'guest_off', 'should_be_off', 'runs_stopped'];

/** One look at all of them. What the driver does not answer about is as it was before. */
export async function reconcileMachines(service: Service): Promise<void> {
  await lookForStrangers(service);
  const failing = await listFindings(service.db, {
    ...{ kinds: ['failing_machine'], looks: 1, limit: FAILING_MAX },
  });
  const tried = new Set(failing.map(({ subject }) => subject));
  const found: Found[] = [];
  const unseen: string[] = [];
  const machines = !isSoldByHand(service, 'dedicated');
  for (let after: string | null = null; ; ) {
    const servers: SettledServerRow[] = await listSettledServers(service.db, {
      after,
      machines,
      limit: BATCH,
    });
    const states = await observe(service, servers);
    for (const server of servers) {
      const seen = states.get(server.id);
      if (!seen || seen.state === 'unknown') unseen.push(server.id);
      const disk = seen?.generation ?? 0;
      if (disk > server.generation) await adoptDisk(service, server.id, disk);
      const kind = !seen || tried.has(server.id) ? null : wrongWith(server.status, seen);
      if (kind) found.push({ kind, subject: server.id, host: server.host });
    }
    after = servers.at(-1)?.id ?? null;
    if (servers.length < BATCH) break;
  }
  for (const { kind, subject } of await keepFindings(service, { kinds: KINDS, found, unseen })) {
    if (kind === 'guest_off') await guestWentOff(service, subject);
    if (kind === 'should_be_off') await switchOffAgain(service, subject);
  }
}

function wrongWith(status: SettledServerRow['status'], seen: MachineState): FindingKind | null {
  if (seen.state === 'absent') return 'lost_machine';
  if (status === 'running') return isSwitchedOff(seen) ? 'guest_off' : null;
  if (!isOn(seen)) return null;
  return status === 'suspended' ? 'should_be_off' : 'runs_stopped';
}

/** Machines that belong to no server. They are listed first, so that one of a server that is just being made is known. */
async function lookForStrangers(service: Service): Promise<void> {
  const listed = await answerWithin(ANSWER_MAX_MS, service.compute.list());
  const known = new Set(await findServerIds(service.db, listed.filter(isServerId)));
  const strangers = listed.filter((id) => !known.has(id));
  const hosts = new Map<string, string | null>();
  if (strangers.length > 0) {
    const asked = service.compute.observe(strangers.slice(0, STRANGERS_ASKED));
    for (const { id, host } of await answerWithin(ANSWER_MAX_MS, asked)) hosts.set(id, host);
  }
  const found = strangers.map((subject) => ({
    ...{ kind: 'unknown_machine' as const, subject, host: hosts.get(subject) ?? null },
  }));
  await keepFindings(service, { kinds: ['unknown_machine'], found });
}

/** None when the driver did not answer. */
async function observe(
  service: Service,
  servers: readonly SettledServerRow[],
): Promise<Map<string, MachineState>> {
  if (servers.length === 0) return new Map();
  try {
    const asked = service.compute.observe(servers.map(({ id }) => id));
    const states = await answerWithin(ANSWER_MAX_MS, asked);
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    service.log.warn({ err: error, servers: servers.length }, 'machines could not be looked at');
    return new Map();
  }
}
