/** Whether what is sold and what there is go together: the host's own look at itself is the driver's. */

import type { Promised } from '../../ports/compute.ts';
import { countPool } from '../../store/addresses.ts';
import { listImports, listUnused } from '../../store/doctor.ts';
import { listHosts } from '../../store/hosts.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';

type Parts = Pick<Service, 'db' | 'clock' | 'compute'>;

export async function examineInventory(service: Parts): Promise<Finding[]> {
  const { compute } = service;
  // What is simulated is made to fit.
  if (compute.hosts === null) return [];
  return [
    ...(await hosts(service, compute.hosts)),
    ...(await images(service)),
    ...(await addresses(service)),
  ];
}

/** What is promised of the hosts that the driver has. */
export async function promisedBy({ db, compute }: Parts): Promise<Promised> {
  const ours = (await listHosts(db)).filter(({ name }) => compute.hosts?.includes(name));
  const sum = (of: 'ram_mb' | 'disk_gb') => ours.reduce((all, host) => all + host[of], 0);
  const unused = await listUnused(db, [...new Set(ours.map(({ region_id }) => region_id))]);
  return { ramMb: sum('ram_mb'), diskGb: sum('disk_gb'), unused };
}

async function hosts({ db }: Parts, driven: readonly string[]): Promise<Finding[]> {
  const what = 'inventory';
  const known = (await listHosts(db)).map(({ name }) => name);
  const absent = driven.filter((name) => !known.includes(name));
  const strange = known.filter((name) => !driven.includes(name));
  const findings = [
    ...absent.map((name): Finding => {
      const says = `this machine, ${name}, is in no region yet: skerryd hosts add ${name} --region par --cpu … --ram-mb … --disk-gb …`;
      return { level: 'look', what, says };
    }),
    ...strange.map((name): Finding => {
      const says = `host ${name} is not among SKERRY_QEMU_HOSTS: its servers are out of reach; drain it or name it`;
      return { level: 'look', what, says };
    }),
  ];
  if (findings.length > 0) return findings;
  return [{ level: 'ok', what, says: `this machine is ${known.join(', ')}` }];
}

async function images({ db }: Parts): Promise<Finding[]> {
  const offered = await listImports(db);
  const missing = offered.filter(({ imported }) => !imported);
  if (missing.length === 0) return [];
  const names = missing.map(({ family, version }) => `${family}-${version}`).join(', ');
  const level = missing.length === offered.length ? 'look' : 'note';
  return [{ level, what: 'images', says: `not imported, so not offered: ${names}` }];
}

async function addresses({ db, clock }: Parts): Promise<Finding[]> {
  const what = 'addresses';
  const pool = await countPool(db, clock.now());
  const regions = new Set((await listHosts(db)).map(({ region_id }) => region_id));
  const findings: Finding[] = [];
  for (const region of regions) {
    for (const family of [4, 6]) {
      const free = pool.find((row) => row.region_id === region && row.family === family)?.free ?? 0n;
      if (free > 0n) continue;
      const says = `no IPv${family} addresses are free in ${region}: skerryd ips add --region ${region} --block …`;
      findings.push({ level: 'look', what, says });
    }
  }
  return findings;
}
