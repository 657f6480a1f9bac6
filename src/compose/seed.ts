/** What a fresh sandbox needs to be of use: a catalogue, hosts, addresses. */
import { seedSandbox } from '../domain/catalogue/seed.ts';
import type { Opened } from './service.ts';

export async function prepareSandbox({ service, simulation }: Opened): Promise<void> {
  await seedSandbox(service, (hosts) => simulation.compute.addHosts(hosts));
}
