/** Compares the machines that the hosts have with the servers that customers have. */
import type { World } from '../world/world.ts';
import type { Problem } from './problem.ts';

export async function compareMachines({ db }: World): Promise<Problem[]> {
  const orphans = await db.rows<{ id: string }>(
    'select m.id from sim.machines m where not exists (select from servers s where s.id::text = m.id)',
  );
  const missing = await db.rows<{ id: string }>(
    `select s.id from servers s where s.status in ('running', 'stopped')
       and not exists (select from sim.machines m where m.id = s.id::text)`,
  );
  return [
    ...orphans.map(({ id }): Problem => ({ kind: 'doubled', text: `machine ${id} has no server` })),
    ...missing.map(({ id }): Problem => ({ kind: 'lost', text: `server ${id} has no machine` })),
  ];
}
