/** The commit of a move that switches hosts. */

import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { type MoveRow, setMoveState } from './moves.ts';

/**
 * The only authority on who has the machine: from this commit on, the target has it and its volumes. The
 * caller holds the server's lock.
 */
export async function switchPlacement(tx: Sql, move: MoveRow): Promise<void> {
  await switchServer(tx, move);
  await tx.run('update volumes set host_id = $2 where id = any ($1::uuid[]) and not shared', [
    move.volume_ids,
    move.to_host,
  ]);
  await tx.run(
    `insert into placed_resources as p (kind, id, backend)
     select item.kind, item.id, coalesce(h.backend, '${LOCAL_BACKEND}')
       from hosts h,
            (select 'machine' as kind, $2::text as id
              union all select 'volume', unnest($3::text[])) as item
      where h.id = $1
        and (item.kind = 'volume' or h.backend is not null
             or exists (select from placed_resources where kind = 'machine' and id = item.id))
     on conflict (kind, id) do update set backend = excluded.backend`,
    [move.to_host, move.server_id, move.volume_ids],
  );
  // The driver starts them where the machine is.
  await tx.run(
    `update snapshots set host_id = $2
      where server_id = $1 and status = 'creating' and not begun and not shared`,
    [move.server_id, move.to_host],
  );
  await setMoveState(tx, move.id, 'switched');
}

/** A server that is resized has its new size there, and from now on the move reserves the old one. */
async function switchServer(tx: Sql, { id, server_id: serverId, to_host: toHost }: MoveRow): Promise<void> {
  await tx.run(
    `with before as (select ram_mb, shared_disk from servers where id = $1),
     swapped as (
       update moves m
          set ram_mb = before.ram_mb, grow_disk_gb = 0,
              disk_gb = m.disk_gb - case when before.shared_disk then 0 else m.grow_disk_gb end
         from before where m.id = $2)
     update servers s set host_id = $3, ram_mb = m.ram_mb, disk_gb = s.disk_gb + m.grow_disk_gb
       from moves m where s.id = $1 and m.id = $2`,
    [serverId, id, toHost],
  );
}
