/** Findings about hosts that do not come back, until nothing of them is left. */
import type { HostFinding } from '../../ports/compute.ts';
import { type HostContents, listLostHosts } from '../../store/inventory/lost-hosts.ts';
import type { Service } from '../context.ts';

export async function lostHostFindings({ db }: Pick<Service, 'db'>): Promise<HostFinding[]> {
  return (await listLostHosts(db)).flatMap((host) => {
    const left = describeRest(host);
    if (left.length === 0)
      return describe('note', host, `nothing is left: run \`hosts remove ${host.name}\``);
    return left.map((text) => describe('warn', host, text));
  });
}

function describe(level: 'note' | 'warn', { name }: HostContents, text: string): HostFinding {
  return { level, subject: 'hosts', message: `${name} is lost: ${text}` };
}

/** Each kind of thing that is still to be settled. */
function describeRest(host: HostContents): string[] {
  const { name, servers, held_servers: held, waiting_servers: waiting } = host;
  const { shared_volumes: shared, held_addresses: addresses } = host;
  const left: string[] = [];
  if (servers > held + waiting) left.push(`servers not settled yet: ${servers - held - waiting}`);
  if (waiting > 0n) left.push(`servers waiting for a host with room, or an address: ${waiting}; add some`);
  if (held > 0n) left.push(`servers under a legal hold, kept on record: ${held}`);
  if (shared > 0n) left.push(`shared volumes not taken from it yet: ${shared}`);
  if (addresses > 0n)
    left.push(`addresses held: ${addresses}; when it is off for good, run \`hosts fenced ${name}\``);
  return left;
}
