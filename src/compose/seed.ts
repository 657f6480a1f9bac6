/** Prepares a fresh sandbox: a catalog, hosts, and addresses. */
import { seedSandbox } from '../domain/catalogue/load.ts';
import type { RegisterHosts } from '../domain/inventory/hosts.ts';
import type { SimulatorControl } from '../drivers/compute/simulator/control.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { OpenService } from '../operator/context.ts';
import type { OpenedService } from './service.ts';

/** Seeds a sandbox. A live service sells only what its operator loads. */
export async function prepareSandbox({ service, simulation }: OpenedService): Promise<void> {
  if (simulation === null) return;
  await seedSandbox(service, simulation.compute && createHostRegistrar(service, simulation.compute));
}

/** Registers hosts with the driver: a simulated host is created; a real one must already exist. */
export function createHostRegistrar(
  service: Pick<OpenedService['service'], 'compute'>,
  simulated: SimulatorControl | null,
): RegisterHosts {
  if (simulated) return (hosts) => simulated.addHosts(hosts);
  return async (hosts, category) => {
    const { hosts: known } = service.compute;
    // The operator manages machines that no driver controls.
    if (known === null || service.compute.capabilities[category] === null) return;
    const unknownHost = hosts.find(({ name }) => !known.includes(name));
    if (unknownHost === undefined) return;
    if (known.length === 0)
      throw new OperatorError('SKERRY_COMPUTE=hosts: this machine is no host; use `skerryd hosts invite`');
    throw new OperatorError(
      `${unknownHost.name}: not in SKERRY_QEMU_HOSTS; this machine is ${known.join(', ')}`,
    );
  };
}

/** The operator's way to end a simulated host, which otherwise answers forever. */
export function endSimulatedHosts(simulated: SimulatorControl | null): Pick<OpenService, 'endSimulatedHost'> {
  return simulated === null ? {} : { endSimulatedHost: (name) => simulated.loseHost(name) };
}
