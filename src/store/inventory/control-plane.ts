/** The control plane's authority, and its own certificates. */
import type { Sql } from '../../kernel/sql.ts';
import { parametersFor } from '../parameters.ts';

export interface ControlPlaneRow {
  readonly id: string;
  /** `self-signed`: from before there was an authority. */
  readonly role: 'self-signed' | 'authority' | 'control plane';
  /** PEM. */
  readonly certificate: string;
  readonly key_sealed: string;
  readonly created_at: Date;
}

const COLUMNS = 'id, role, certificate, key_sealed, created_at';

/** Returns the newest one of each role; of the self-signed certificates the oldest, which hosts know. */
export async function listControlPlane(tx: Sql): Promise<ControlPlaneRow[]> {
  return await tx.rows<ControlPlaneRow>(
    `(select ${COLUMNS} from control_plane_identities where role = 'self-signed'
       order by created_at, id limit 1)
     union all select ${COLUMNS} from control_plane_identities where role = 'authority'
     union all (select ${COLUMNS} from control_plane_identities where role = 'control plane'
                 order by created_at desc, id desc limit 1)`,
  );
}

/** Inserts nothing if it is an authority and there is one. */
export async function insertControlPlane(tx: Sql, row: ControlPlaneRow): Promise<void> {
  await tx.run(
    `insert into control_plane_identities (${COLUMNS}) values (${parametersFor(COLUMNS)})
     on conflict do nothing`,
    row,
  );
}

/** Deletes the control plane's own certificates from before a time. */
export async function deleteControlPlaneBefore(tx: Sql, before: Date): Promise<void> {
  await tx.run(`delete from control_plane_identities where role = 'control plane' and created_at < $1`, [
    before,
  ]);
}
