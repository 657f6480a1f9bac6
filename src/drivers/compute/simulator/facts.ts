/** Facts about simulated hosts, from the machines that run on them. */
import { uptime } from 'node:os';
import { readVersion } from '../../../kernel/settings/version.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { HostFacts } from '../../../ports/host-facts.ts';

/** How busy each core of a running machine keeps a core of its host. */
const BUSY_SHARE = 0.25;
/** How much of their memory and disk machines use. */
const FILLED_SHARE = 0.5;

/** Returns those of all hosts that are not down. */
export async function readSimulatedFacts(db: Sql): Promise<HostFacts[]> {
  const rows = await db.rows<{
    host: string;
    cores: number;
    ram_mb: number;
    disk_gb: number;
    used_cores: bigint;
    used_ram_mb: bigint;
    used_disk_gb: bigint;
  }>(
    `select h.name as host, h.cpu as cores, h.ram_mb, h.disk_gb,
            coalesce(sum(m.cpu) filter (where m.off_at is null), 0) as used_cores,
            coalesce(sum(m.ram_mb) filter (where m.off_at is null), 0) as used_ram_mb,
            coalesce(sum(m.disk_gb) filter (where not m.shared_disk), 0) as used_disk_gb
       from sim.hosts h left join sim.machines m on m.host = h.name
      where not h.down group by h.name order by h.name`,
  );
  const common = { version: readVersion(), time: new Date(), uptimeS: Math.floor(uptime()) };
  return rows.map((row) => ({
    ...common,
    host: row.host,
    cores: row.cores,
    load: (Number(row.used_cores) * BUSY_SHARE) / row.cores,
    ramMb: row.ram_mb,
    ramAvailableMb: Math.max(0, Math.floor(row.ram_mb - Number(row.used_ram_mb) * FILLED_SHARE)),
    diskGb: row.disk_gb,
    diskFreeGb: Math.max(0, row.disk_gb - Number(row.used_disk_gb) * FILLED_SHARE),
  }));
}
