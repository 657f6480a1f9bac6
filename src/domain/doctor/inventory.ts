/** Whether what is sold and what there is go together: the host's own look at itself is the driver's. */

import type { ExpectedResources } from '../../ports/compute.ts';
import { countPool } from '../../store/addresses.ts';
import { listImageImports, listUnusedAddresses } from '../../store/doctor.ts';
import { listHosts } from '../../store/hosts.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'compute'>;

export async function examineInventory(service: Deps): Promise<Finding[]> {
  const { compute } = service;
  // What is simulated is made to fit.
  if (compute.hosts === null) return [];
  return [
    ...(await checkHosts(service, compute.hosts)),
    ...(await checkImages(service)),
    ...(await checkAddresses(service)),
  ];
}

/** What is promised of the hosts that the driver has. */
export async function sumPromised({ db, compute }: Deps): Promise<ExpectedResources> {
  const driverHosts = (await listHosts(db)).filter(({ name }) => compute.hosts?.includes(name));
  const sum = (of: 'ram_mb' | 'disk_gb') => driverHosts.reduce((all, host) => all + host[of], 0);
  const unusedAddresses = await listUnusedAddresses(db, [
    ...new Set(driverHosts.map(({ region_id }) => region_id)),
  ]);
  return { ramMb: sum('ram_mb'), diskGb: sum('disk_gb'), unusedAddresses };
}

async function checkHosts({ db }: Deps, driverHosts: readonly string[]): Promise<Finding[]> {
  const subject = 'inventory';
  const known = (await listHosts(db)).map(({ name }) => name);
  const unregistered = driverHosts.filter((name) => !known.includes(name));
  const unreachable = known.filter((name) => !driverHosts.includes(name));
  const findings = [
    ...unregistered.map((name): Finding => {
      const message = `this machine, ${name}, is in no region yet: skerryd hosts add ${name} --region par --cpu … --ram-mb … --disk-gb …`;
      return { level: 'look', subject, message };
    }),
    ...unreachable.map((name): Finding => {
      const message = `host ${name} is not among SKERRY_QEMU_HOSTS: its servers are out of reach; drain it or name it`;
      return { level: 'look', subject, message };
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
  const level = missing.length === offered.length ? 'look' : 'note';
  return [{ level, subject: 'images', message: `not imported, so not offered: ${names}` }];
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
      const message = `no IPv${family} addresses are free in ${region}: skerryd ips add --region ${region} --block …`;
      findings.push({ level: 'look', subject, message });
    }
  }
  return findings;
}
