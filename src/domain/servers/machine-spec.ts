/** Builds the machine specification for the driver. */
import type { MachineSpec } from '../../ports/compute.ts';
import type { BuildDetails } from '../../store/servers/placements.ts';
import type { Service } from '../context.ts';
import { isoForImage } from '../images/usable.ts';
import { serverIpv6 } from './object.ts';

/** `generation` is the number of the disk to install on. */
export function buildMachineSpec(
  service: Service,
  machine: { readonly id: string; readonly host: string; readonly generation: number },
  facts: BuildDetails,
): MachineSpec {
  const open = (purpose: string, sealed: string | null) =>
    sealed === null ? null : service.keys.open(purpose, sealed);
  return {
    ...machine,
    hostname: facts.hostname,
    cpu: facts.cpu,
    ramMb: facts.ram_mb,
    diskGb: facts.disk_gb,
    image: {
      id: facts.image_id,
      family: facts.family,
      version: facts.version,
      cloudInit: facts.cloud_init,
      iso: isoForImage(service, facts),
      base: facts.base_sha256,
    },
    ipv4: { address: facts.ipv4, gateway: facts.gateway },
    ipv6: { address: serverIpv6(facts.ipv6_prefix), prefix: facts.ipv6_prefix },
    sshKeys: facts.ssh_public_keys,
    rootPasswordHash: open('root password', facts.root_password_sealed)?.toString('utf8') ?? null,
    userData: open('user data', facts.user_data_sealed),
  };
}
