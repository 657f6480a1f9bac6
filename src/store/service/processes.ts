/**
 * The processes of the service. A process holds an advisory lock on the connection that it listens on. The
 * kernel closes that connection when the process is killed, and PostgreSQL then frees the lock.
 */
import type { Sql } from '../../kernel/sql.ts';
import { type LeaseRange, OWN_LEASES } from '../leases.ts';

/** The first of the two numbers of the lock; the second is a hash of the process's first lease. */
const LOCK_CLASS = 75_661;
const ENDED_MAX = 100;

/** Records this process on its session, again after each reconnection. */
export async function registerProcess(session: Sql): Promise<void> {
  const { first_lease: firstLease } = OWN_LEASES;
  await session.row('select pg_advisory_lock_shared($1, hashtext($2))', [LOCK_CLASS, firstLease]);
  await session.run(
    `insert into processes (first_lease, last_lease, knows_partitions)
     values ($first_lease, $last_lease, true) on conflict (first_lease) do nothing`,
    { ...OWN_LEASES },
  );
}

/** SQL for: no session holds the lock of the process `p`. */
const HAS_ENDED_SQL = `not exists (
  select from pg_locks l
   where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and l.classid = ${LOCK_CLASS}
     and l.database = (select oid from pg_database where datname = current_database())
     and l.objid = hashtext(p.first_lease::text)::oid)`;

/** Lists recorded processes whose session has ended. */
export async function listEndedProcesses(tx: Sql): Promise<LeaseRange[]> {
  return await tx.rows<LeaseRange>(
    `select first_lease, last_lease from processes p where ${HAS_ENDED_SQL}
      order by started_at limit ${ENDED_MAX}`,
  );
}

/** Returns false, and does nothing, if the process has a session after all. */
export async function removeEndedProcess(tx: Sql, process: LeaseRange): Promise<boolean> {
  const statement = `delete from processes p where first_lease = $1 and ${HAS_ENDED_SQL}`;
  return (await tx.run(statement, [process.first_lease])) === 1;
}

/** Removes the record of this process. */
export async function removeOwnProcess(tx: Sql): Promise<void> {
  await tx.run('delete from processes where first_lease = $1', [OWN_LEASES.first_lease]);
}
