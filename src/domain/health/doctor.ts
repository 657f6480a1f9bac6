/** Checks that the inventory matches the driver and the catalog. The driver checks the host itself. */

import type { ExpectedResources } from '../../ports/compute.ts';
import { listImageImports } from '../../store/images/images.ts';
import { countPool, listUnusedAddresses } from '../../store/inventory/addresses.ts';
import { listHosts } from '../../store/inventory/hosts.ts';
import type { Service } from '../context.ts';
import type { Finding } from './status.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'compute'>;

export async function examineInventory(service: Deps): Promise<Finding[]> {
  const { compute } = service;
  // Simulated hosts always match.
  if (compute.hosts === null) return [];
  return [
    ...(await checkHosts(service, compute.hosts)),
    ...(await checkImages(service)),
    ...(await checkAddresses(service)),
  ];
}

/** Adds up the capacity that the inventory promises on these hosts; by default, those of this machine. */
export async function sumPromised(
  { db, compute }: Pick<Deps, 'db' | 'compute'>,
  hosts = compute.hosts,
): Promise<ExpectedResources> {
  const driverHosts = (await listHosts(db)).filter(({ name }) => hosts?.includes(name));
  const sum = (of: 'ram_mb' | 'disk_gb') => driverHosts.reduce((all, host) => all + host[of], 0);
  const unusedAddresses = await listUnusedAddresses(db, [
    ...new Set(driverHosts.map(({ region_id }) => region_id)),
  ]);
  return { ramMb: sum('ram_mb'), diskGb: sum('disk_gb'), unusedAddresses };
}

/** Hosts of a backend are not on this machine. */
async function checkHosts({ db }: Deps, driverHosts: readonly string[]): Promise<Finding[]> {
  const subject = 'inventory';
  const known = (await listHosts(db)).flatMap(({ name, backend }) => (backend === null ? [name] : []));
  const unregistered = driverHosts.filter((name) => !known.includes(name));
  const unreachable = known.filter((name) => !driverHosts.includes(name));
  const findings = [
    ...unregistered.map((name): Finding => {
      const message =
        `this machine, ${name}, is not registered: ` +
        `skerryd hosts add ${name} --region par --cpu … --ram-mb … --disk-gb …`;
      return { level: 'fail', subject, message };
    }),
    ...unreachable.map((name): Finding => {
      const message =
        `host ${name} is not in SKERRY_QEMU_HOSTS: ` +
        'its servers are unreachable; drain the host or add it to the list';
      return { level: 'fail', subject, message };
    }),
  ];
  if (findings.length > 0) return findings;
  return [{ level: 'ok', subject, message: `this machine is ${known.join(', ')}` }];
}

async function checkImages({ db }: Deps): Promise<Finding[]> {
  const offered = await listImageImports(db);
  const missing = offered.filter(({ imported }) => !imported);
  if (missing.length === 0) return [];
  const names = missing.map(({ family, version }) => `${family}-${version}`).join(', ');
  const level = missing.length === offered.length ? 'fail' : 'note';
  return [{ level, subject: 'images', message: `not imported, so unavailable to customers: ${names}` }];
}

async function checkAddresses({ db, clock }: Deps): Promise<Finding[]> {
  const subject = 'addresses';
  const pool = await countPool(db, clock.now());
  const regions = new Set((await listHosts(db)).map(({ region_id }) => region_id));
  const findings: Finding[] = [];
  for (const region of regions) {
    for (const family of [4, 6]) {
      const free = pool.find((row) => row.region_id === region && row.family === family)?.free ?? 0n;
      if (free > 0n) continue;
      const add = `skerryd ips add --region ${region} --block …`;
      const message = `no free IPv${family} addresses in ${region}: ${add}`;
      findings.push({ level: 'fail', subject, message });
    }
  }
  return findings;
}
