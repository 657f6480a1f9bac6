/** What a fresh sandbox needs to be of use: a catalogue, hosts, addresses. */
import { seedSandbox } from '../domain/catalogue/seed.ts';
import type { RegisterHosts } from '../domain/inventory/hosts.ts';
import type { SimulatorControl } from '../drivers/compute/simulator/control.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { Opened } from './service.ts';

/** A live service sells what its operator loads. */
export async function prepareSandbox({ service, simulation }: Opened): Promise<void> {
  if (simulation === null) return;
  await seedSandbox(service, simulation.compute && hostRegister(service, simulation.compute));
}

/** How the driver learns of a host: a simulated one is made; a real one must be one that it has. */
export function hostRegister(
  service: Pick<Opened['service'], 'compute'>,
  simulated: SimulatorControl | null,
): RegisterHosts {
  if (simulated) return (hosts) => simulated.addHosts(hosts);
  return async (hosts, category) => {
    const { hosts: known } = service.compute;
    // Machines that no driver reaches are the operator's own to know.
    if (known === null || service.compute.capabilities[category] === null) return;
    const strange = hosts.find(({ name }) => !known.includes(name));
    if (strange === undefined) return;
    throw new Refusal(
      `${strange.name}: SKERRY_QEMU_HOSTS does not name it; this machine is ${known.join(', ')}`,
    );
  };
}
