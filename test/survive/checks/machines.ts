/** Compares the machines that the hosts have with the servers that customers have. */
import type { OpenDatabase } from '../../../src/store/db.ts';
import type { World } from '../world/world.ts';
import type { Problem } from './problem.ts';

export async function compareMachines({ db, host }: World, figures: { hosted: number }): Promise<Problem[]> {
  const hosted = await machinesOf(host.db);
  figures.hosted = Math.max(figures.hosted, hosted.length);
  const machines = [...(await machinesOf(db)), ...hosted];
  const rows = await db.rows<{ id: string; status: string }>('select id::text as id, status from servers');
  const servers = new Map(rows.map(({ id, status }) => [id, status]));
  const ids = new Set(machines);
  const missing = rows.filter(({ id, status }) => !ids.has(id) && ['running', 'stopped'].includes(status));
  return [
    ...machines
      .filter((id) => !servers.has(id))
      .map((id): Problem => ({ kind: 'doubled', text: `machine ${id} has no server` })),
    ...machines
      .filter((id, index) => machines.indexOf(id) !== index)
      .map((id): Problem => ({ kind: 'doubled', text: `machine ${id} is on two hosts` })),
    ...missing.map(({ id }): Problem => ({ kind: 'lost', text: `server ${id} has no machine` })),
  ];
}

async function machinesOf(db: OpenDatabase): Promise<string[]> {
  return (await db.rows<{ id: string }>('select id from sim.machines')).map(({ id }) => id);
}
