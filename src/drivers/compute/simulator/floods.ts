/** Simulated packets: a machine sends and gets few, until a test floods it. */
import type { Sql } from '../../../kernel/sql.ts';
import type { AddressFamily, PacketRate, PacketSample } from '../../../ports/network.ts';
import { requireMachine } from './machine.ts';

export interface SimulatedFlood {
  readonly direction: 'in' | 'out';
  readonly family: AddressFamily;
  readonly packetsPerS: number;
}

const CALM: PacketRate = { packetsPerS: 40, bitsPerS: 160_000, ipv6PacketsPerS: 10 };
const BITS_PER_PACKET = 512;

interface FloodedRow {
  readonly id: string;
  readonly flood: SimulatedFlood | null;
  readonly blackholed: readonly AddressFamily[];
}

/** Of the machines that are on, on hosts that respond. */
export async function samplePackets(sql: Sql, ids: readonly string[], now: Date): Promise<PacketSample[]> {
  const rows = await sql.rows<FloodedRow>(
    `select m.id, m.flood, m.blackholed
       from sim.machines m join sim.hosts h on h.name = m.host and not h.down
      where m.id = any($1::text[]) and (m.off_at is null or m.off_at > $2)`,
    [ids, now],
  );
  return rows.map(({ id, flood, blackholed }) => {
    const rate = (direction: 'in' | 'out') =>
      flood?.direction === direction ? floodRate(flood, blackholed) : CALM;
    return { id, in: rate('in'), out: rate('out') };
  });
}

/** A machine still sends what its host drops, but nothing reaches it. */
function floodRate(flood: SimulatedFlood, blackholed: readonly AddressFamily[]): PacketRate {
  const { direction, family, packetsPerS } = flood;
  if (direction === 'in' && blackholed.includes(family)) return CALM;
  const ipv6PacketsPerS = family === 6 ? packetsPerS : 0;
  return { packetsPerS, bitsPerS: packetsPerS * BITS_PER_PACKET, ipv6PacketsPerS };
}

export async function setBlackholed(
  sql: Sql,
  id: string,
  blackholed: readonly AddressFamily[],
): Promise<void> {
  await requireMachine(sql, id);
  await sql.run('update sim.machines set blackholed = $2::int[] where id = $1', [id, blackholed]);
}
