/** Backends, and which of them has which machine, volume, and snapshot. */
import type { Sql } from '../../kernel/sql.ts';
import type { Backend, BackendDirectory, PlacedKind } from '../../ports/backends.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';
import { requestBackendFile } from './backend-files.ts';

export interface BackendRow extends Omit<Backend, 'isIssued' | 'inUse'> {
  readonly region_id: string;
  readonly state: 'active' | 'revoked';
}

/** The latest certificate of a backend. */
export interface BackendCertificateRow {
  readonly identity: string;
  readonly fingerprint: string;
  readonly certificate_from: Date;
  readonly certificate_until: Date;
  readonly renew_at: Date;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CERTIFICATE = 'identity, fingerprint, certificate_from, certificate_until, renew_at';
const NEW_BACKEND = `name, kind, address, region_id, state, created_at, ${CERTIFICATE}`;
const BACKEND = `name, kind, address, fingerprint, identity, certificate_until is not null as "isIssued",
                 state = 'active' as "inUse"`;

export async function insertBackend(
  tx: Sql,
  row: BackendRow & BackendCertificateRow & { readonly created_at: Date },
): Promise<void> {
  await tx.run(`insert into backends (${NEW_BACKEND}) values (${parametersFor(NEW_BACKEND)})`, row);
}

/** Records the latest certificate of the backend, unless it was invited again meanwhile. */
export async function setBackendCertificate(
  tx: Sql,
  name: string,
  certificate: BackendCertificateRow,
): Promise<void> {
  await tx.run(
    `update backends set ${assignmentsFor(CERTIFICATE)}, renewal_failures = 0
      where name = $name and identity = $identity`,
    { name, ...certificate },
  );
}

/** Gives the backend an identity unless it has one, and returns it. */
export async function ensureBackendIdentity(tx: Sql, name: string, identity: string): Promise<string> {
  const row = await tx.row<{ identity: string }>(
    'update backends set identity = coalesce(identity, $2) where name = $1 returning identity',
    [name, identity],
  );
  return row?.identity ?? identity;
}

/** Returns the backends whose certificates are due for renewal. */
export async function listRenewals(
  tx: Sql,
  now: Date,
): Promise<(Backend & { readonly renewal_failures: number })[]> {
  return await tx.rows(
    `select ${BACKEND}, renewal_failures from backends
      where state = 'active' and coalesce(renew_at, '-infinity') <= $1 order by name`,
    [now],
  );
}

export interface CertificateStateRow {
  readonly name: string;
  /** Null: it is self-signed. */
  readonly certificate_until: Date | null;
  readonly renewal_failures: number;
}

/** Returns the certificates of the backends in use. */
export async function listCertificateStates(tx: Sql): Promise<CertificateStateRow[]> {
  return await tx.rows<CertificateStateRow>(
    `select name, certificate_until, renewal_failures from backends where state = 'active' order by name`,
  );
}

export async function recordRenewalFailure(tx: Sql, name: string, retryAt: Date): Promise<void> {
  await tx.run('update backends set renewal_failures = renewal_failures + 1, renew_at = $2 where name = $1', [
    name,
    retryAt,
  ]);
}

/** Locks the backend, so that nothing is placed on its hosts until the transaction ends. */
export async function lockBackend(tx: Sql, name: string): Promise<BackendRow | undefined> {
  return await tx.row<BackendRow>(
    `select name, kind, address, fingerprint, identity, region_id, state from backends
      where name = $1 for update`,
    [name],
  );
}

export async function setBackendState(tx: Sql, name: string, state: BackendRow['state']): Promise<void> {
  await tx.run('update backends set state = $2 where name = $1', [name, state]);
}

export async function deleteBackend(tx: Sql, name: string): Promise<void> {
  await tx.run('delete from backends where name = $1', [name]);
}

/** Returns whether anything is, or may be, on the backend. */
export async function hasPlacedResources(tx: Sql, backend: string): Promise<boolean> {
  const row = await tx.row(
    `select from placed_resources where backend = $1 and backend <> '${LOCAL_BACKEND}' limit 1`,
    [backend],
  );
  return row !== undefined;
}

/** Returns a number above those of all earlier calls. */
export async function nextBackendCall(db: Sql): Promise<number> {
  const row = await db.row<{ call: bigint }>(`select nextval('backend_calls') as call`);
  return Number(row?.call);
}

/** More than a service makes between a backup and its restore. */
const SKIPPED_CALLS = 1_000_000_000n;

/**
 * Continues above the numbers that were issued after the backup of a restored database: hosts remember them,
 * and refuse what comes below.
 */
export async function skipBackendCalls(tx: Sql): Promise<void> {
  await tx.row(`select setval('backend_calls', last_value + $1::bigint) from backend_calls`, [SKIPPED_CALLS]);
}

export function createBackendDirectory(db: Sql): BackendDirectory {
  return {
    list: () => db.rows<Backend>(`select ${BACKEND} from backends order by name`),
    findBackendOfHost: async (host) => {
      const row = await db.row<{ backend: string | null }>('select backend from hosts where name = $1', [
        host,
      ]);
      return row?.backend ?? LOCAL_BACKEND;
    },
    find: async (kind, ids) => {
      const rows = await db.rows<{ id: string; backend: string }>(
        'select id, backend from placed_resources where kind = $1 and id = any ($2::text[])',
        [kind, ids],
      );
      return new Map(rows.map(({ id, backend }) => [id, backend]));
    },
    claim: (kind, id, backend) => claimResource(db, kind, id, backend),
    move: async (kind, id, { from, to }) => {
      const values = [kind, id, from, to];
      await db.run(
        'update placed_resources set backend = $4 where kind = $1 and id = $2 and backend = $3',
        values,
      );
    },
    release: async (kind, id, backend) => {
      const values = [kind, id, backend];
      await db.run('delete from placed_resources where kind = $1 and id = $2 and backend = $3', values);
    },
    requestFile: (backend, file) => requestBackendFile(db, { backend, ...file }),
    adopt: async (backend, machineIds) => {
      const rows = await db.rows<{ id: string }>(
        `insert into placed_resources (kind, id, backend)
         select 'machine', s.id::text, h.backend from servers s join hosts h on h.id = s.host_id
          where s.id = any ($2::uuid[]) and h.backend = $1
         on conflict do nothing returning id`,
        [backend, machineIds.filter((id) => UUID.test(id))],
      );
      return rows.map(({ id }) => id);
    },
  };
}

/** The update changes nothing, but locks and returns the row of the first claim. */
async function claimResource(db: Sql, kind: PlacedKind, id: string, backend: string): Promise<string> {
  const row = await db.row<{ backend: string }>(
    `insert into placed_resources as p (kind, id, backend) values ($1, $2, $3)
     on conflict (kind, id) do update set backend = p.backend returning backend`,
    [kind, id, backend],
  );
  if (row === undefined) throw new Error('a claim returned no row');
  return row.backend;
}
