/** What a fresh sandbox needs to be of use: a catalogue, hosts, addresses. */
import { seedSandbox } from '../domain/catalogue/seed.ts';
import type { RegisterHosts } from '../domain/inventory/hosts.ts';
import type { SimulatorControl } from '../drivers/compute/simulator/control.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { OpenedService } from './service.ts';

/** A live service sells what its operator loads. */
export async function prepareSandbox({ service, simulation }: OpenedService): Promise<void> {
  if (simulation === null) return;
  await seedSandbox(service, simulation.compute && createHostRegistrar(service, simulation.compute));
}

/** How the driver learns of a host: a simulated one is made; a real one must be one that it has. */
export function createHostRegistrar(
  service: Pick<OpenedService['service'], 'compute'>,
  simulated: SimulatorControl | null,
): RegisterHosts {
  if (simulated) return (hosts) => simulated.addHosts(hosts);
  return async (hosts, category) => {
    const { hosts: known } = service.compute;
    // Machines that no driver reaches are the operator's own to know.
    if (known === null || service.compute.capabilities[category] === null) return;
    const unknownHost = hosts.find(({ name }) => !known.includes(name));
    if (unknownHost === undefined) return;
    throw new OperatorError(
      `${unknownHost.name}: SKERRY_QEMU_HOSTS does not name it; this machine is ${known.join(', ')}`,
    );
  };
}
