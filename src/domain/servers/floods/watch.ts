/**
 * Watches the packets of all running servers. A sample above the limit makes a flood suspected, enough of
 * them in a row make it noticed, and, if the operator wants it, blackhole the address. Everything is in the
 * database, so each process can do the next sample. A host that does not answer changes nothing.
 */
import { formatId, newId } from '../../../kernel/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import type { PacketRate, PacketSample } from '../../../ports/network.ts';
import { FLOOD_DIRECTIONS, FLOOD_LIMITS, type FloodDirection } from '../../../spec/staff/floods.ts';
import { isUnavailable } from '../../../store/connections/errors.ts';
import {
  endFloods,
  type FloodRow,
  forgetSuspicion,
  insertFlood,
  listOpenFloods,
  listWatchedServers,
  type Measured,
  resetSamples,
  saveSample,
} from '../../../store/servers/floods.ts';
import type { Service } from '../../context.ts';
import { withDriverTimeout } from '../operations/driver-call.ts';
import { blackholeFlood } from './blackhole.ts';

/** Servers that are read with one call. */
const BATCH_SIZE = 500;

type Watched = Awaited<ReturnType<typeof listWatchedServers>>[number];

/** Takes one sample of all servers. Yields how many each batch had. */
export async function* watchFloods(service: Service): AsyncGenerator<number> {
  const now = service.clock.now();
  const quietSince = new Date(now.getTime() - FLOOD_LIMITS.quietMinutes * MINUTE_MS);
  await endFloods(service.db, { now, quietSince });
  const { packetsPerS } = service.settings.floods;
  if (FLOOD_DIRECTIONS.every((direction) => packetsPerS[direction] === 0)) return;
  for (let after: string | null = null; ; ) {
    const servers: readonly Watched[] = await listWatchedServers(service.db, { after, limit: BATCH_SIZE });
    if (servers.length > 0) await watchBatch(service, servers);
    yield servers.length;
    if (servers.length < BATCH_SIZE) return;
    after = servers.at(-1)?.id ?? null;
  }
}

async function watchBatch(service: Service, servers: readonly Watched[]): Promise<void> {
  const ids = servers.map(({ id }) => id);
  const samples = await readSamples(service, ids);
  if (samples.length === 0) return;
  const open = await listOpenFloods(service.db, ids);
  const floods = new Map(open.map((flood) => [`${flood.server_id} ${flood.direction}`, flood]));
  const owners = new Map(servers.map(({ id, customer_id: customerId }) => [id, customerId]));
  for (const { id, ...rates } of samples) {
    for (const direction of FLOOD_DIRECTIONS) {
      const customerId = owners.get(id);
      const flood = floods.get(`${id} ${direction}`);
      const isOver = exceeds(service, direction, rates[direction]);
      if (customerId === undefined || (!isOver && !flood)) continue;
      const over = isOver ? { id, customerId, direction, rate: rates[direction] } : null;
      await countSample(service, id, over, flood);
    }
  }
}

/** An error with one server does not end the sample of the others. */
async function countSample(
  service: Service,
  id: string,
  over: Over | null,
  flood: FloodRow | undefined,
): Promise<void> {
  try {
    if (over) await countOver(service, over, flood);
    else if (flood) await countBelow(service, flood);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    service.log.error({ err: error, server: formatId('server', id) }, 'counting a flood failed');
  }
}

/** Empty if the driver fails: nothing is known, and the next sample is soon. */
async function readSamples(service: Service, ids: readonly string[]): Promise<PacketSample[]> {
  try {
    return await withDriverTimeout(service.compute.samplePackets(ids));
  } catch (error) {
    service.log.warn({ err: error, servers: ids.length }, 'packets could not be counted');
    return [];
  }
}

function exceeds({ settings }: Service, direction: FloodDirection, { packetsPerS }: PacketRate): boolean {
  const limit = settings.floods.packetsPerS[direction];
  return limit > 0 && packetsPerS >= limit;
}

interface Over {
  readonly id: string;
  readonly customerId: string;
  readonly direction: FloodDirection;
  readonly rate: PacketRate;
}

async function countOver(service: Service, over: Over, known: FloodRow | undefined): Promise<void> {
  const { floods: settings } = service.settings;
  const now = service.clock.now();
  const measured = measure(over.rate, known, { now, needed: settings.samples });
  const { id: serverId, customerId, direction } = over;
  const id = known?.id ?? newId(now);
  const flood = { id, server_id: serverId, customer_id: customerId, direction, ...measured };
  await (known ? saveSample(service.db, id, measured) : insertFlood(service.db, flood));
  if (measured.samples < settings.samples) return;
  if (known?.noticed_at == null) {
    const fields = { server: formatId('server', serverId), direction, packetsPerS: over.rate.packetsPerS };
    service.log.warn(fields, 'a flood of packets was noticed');
  }
  // Staff know better: it is not blackholed again before it ends.
  if (settings.isAutomatic && known?.lifted_by !== 'staff')
    await blackholeFlood(service, { ...flood, blackholes: known?.blackholes ?? 0 });
}

function measure(
  { packetsPerS, bitsPerS, ipv6PacketsPerS }: PacketRate,
  known: FloodRow | undefined,
  { now, needed }: { readonly now: Date; readonly needed: number },
): Measured {
  const follows =
    known && now.getTime() - known.last_seen_at.getTime() <= FLOOD_LIMITS.sampleGapS * SECOND_MS;
  const samples = follows ? known.samples + 1 : 1;
  // A suspicion from before a gap tells nothing about now.
  const continued = follows || known?.noticed_at ? known : undefined;
  const peak = (measured: number, before: bigint | undefined) =>
    before !== undefined && before > BigInt(measured) ? before : BigInt(measured);
  return {
    samples,
    began_at: continued?.began_at ?? now,
    last_seen_at: now,
    noticed_at: continued?.noticed_at ?? (samples >= needed ? now : null),
    peak_packets_per_s: peak(packetsPerS, continued?.peak_packets_per_s),
    peak_bits_per_s: peak(bitsPerS, continued?.peak_bits_per_s),
    family: 2 * ipv6PacketsPerS > packetsPerS ? 6 : 4,
  };
}

async function countBelow({ db }: Service, flood: FloodRow): Promise<void> {
  if (flood.noticed_at === null) await forgetSuspicion(db, flood.id);
  else if (flood.samples > 0) await resetSamples(db, flood.id);
}
