/** Servers whose packets are dropped, and until when. */
import type { Sql } from '../../kernel/sql.ts';
import type { FloodDirection } from '../../spec/staff/floods.ts';

export interface BlackholeRow {
  readonly server_id: string;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  readonly began_at: Date;
  readonly until: Date;
}

const COLUMNS = 'b.server_id, b.ipv4, b.ipv6, b.began_at, b.until';

export async function findBlackhole(sql: Sql, serverId: string): Promise<BlackholeRow | undefined> {
  return await sql.row<BlackholeRow>(`select ${COLUMNS} from blackholes b where b.server_id = $1`, [
    serverId,
  ]);
}

/** The caller holds the server's lock. */
export async function saveBlackhole(tx: Sql, row: BlackholeRow): Promise<void> {
  await tx.run(
    `insert into blackholes (server_id, ipv4, ipv6, began_at, until)
     values ($server_id, $ipv4, $ipv6, $began_at, $until)
     on conflict (server_id) do update
        set ipv4 = excluded.ipv4, ipv6 = excluded.ipv6, until = excluded.until`,
    row,
  );
}

/** The caller holds the server's lock. Returns undefined if there is none, or it is not due. */
export async function deleteBlackhole(
  tx: Sql,
  serverId: string,
  dueBy: Date | null,
): Promise<BlackholeRow | undefined> {
  return await tx.row<BlackholeRow>(
    `delete from blackholes b where b.server_id = $1 and ($2::timestamptz is null or b.until <= $2)
     returning ${COLUMNS}`,
    [serverId, dueBy],
  );
}

/** The servers whose blackhole has ended by then. */
export async function listDueBlackholes(sql: Sql, now: Date, limit: number): Promise<string[]> {
  const rows = await sql.rows<{ server_id: string }>(
    'select server_id from blackholes where until <= $1 order by until limit $2',
    [now, limit],
  );
  return rows.map(({ server_id: id }) => id);
}

export async function nextBlackholeEnd(sql: Sql): Promise<Date | null> {
  const row = await sql.row<{ until: Date | null }>('select min(until) as until from blackholes');
  return row?.until ?? null;
}

export interface FloodCount {
  readonly direction: FloodDirection;
  readonly blackholed: boolean;
  readonly n: bigint;
}

/** The floods that were noticed and have not ended. */
export async function countOpenFloods(sql: Sql): Promise<FloodCount[]> {
  return await sql.rows<FloodCount>(
    `select f.direction, b.server_id is not null as blackholed, count(*) as n
       from floods f left join blackholes b on b.server_id = f.server_id
      where f.ended_at is null and f.noticed_at is not null group by 1, 2 order by 1, 2`,
  );
}

export async function countBlackholes(sql: Sql): Promise<bigint> {
  const row = await sql.row<{ n: bigint }>('select count(*) as n from blackholes');
  return row?.n ?? 0n;
}
