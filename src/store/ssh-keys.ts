/** SSH keys that customers save for their orders. Servers store copies of the public keys. */
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { SshKeyType } from '../spec/schemas/ssh-key.ts';
import type { Reach } from '../spec/token-limits.ts';
import { pageInside } from './customers/reach.ts';
import { BY_CREATION_OR_NAME, countUpTo, type Page, type PageSource, readPage } from './page.ts';
import { parametersFor } from './parameters.ts';

export interface SshKeyRow {
  readonly id: string;
  readonly customer_id: string;
  readonly name: string;
  readonly type: SshKeyType;
  readonly fingerprint: string;
  readonly public_key: string;
  readonly created_at: Date;
}

export type ListedSshKeyRow = Omit<SshKeyRow, 'customer_id' | 'public_key'>;

const LISTED = 'id, name, type, fingerprint, created_at';
const COLUMNS = 'id, customer_id, name, type, fingerprint, public_key, created_at';

export async function insertSshKey(tx: Sql, row: SshKeyRow): Promise<void> {
  await tx.run(`insert into ssh_keys (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

/** Counts up to `limit`. */
export async function countSshKeys(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'ssh_keys where customer_id = $customerId', { customerId, limit });
}

export async function pageSshKeys(
  tx: Sql,
  customerId: string,
  request: PageRequest,
  reach?: Reach | null,
): Promise<Page<ListedSshKeyRow>> {
  const source: PageSource = {
    columns: LISTED,
    from: 'ssh_keys',
    where: 'customer_id = $customerId',
    values: { customerId },
    sorts: BY_CREATION_OR_NAME,
    filters: { name: { where: 'name = $name' }, type: { where: 'type = $type' } },
  };
  return await readPage<ListedSshKeyRow>(tx, pageInside(source, reach, 'sshKey'), request);
}

export async function findSshKey(tx: Sql, customerId: string, id: string): Promise<SshKeyRow | undefined> {
  return await tx.row<SshKeyRow>(`select ${COLUMNS} from ssh_keys where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** Returns the customer's oldest key with this fingerprint. */
export async function findSshKeyByFingerprint(
  tx: Sql,
  customerId: string,
  fingerprint: string,
): Promise<SshKeyRow | undefined> {
  return await tx.row<SshKeyRow>(
    `select ${COLUMNS} from ssh_keys where customer_id = $1 and fingerprint = $2
      order by created_at, id limit 1`,
    [customerId, fingerprint],
  );
}

/** Returns whether the customer had a key with this id. */
export async function deleteSshKey(tx: Sql, customerId: string, id: string): Promise<boolean> {
  return (await tx.run('delete from ssh_keys where id = $1 and customer_id = $2', [id, customerId])) > 0;
}
