/** The inventory of a catalog file. Missing stock is added; existing stock is never changed or removed. */
import type { Sql } from '../../kernel/sql.ts';
import { findKnownBlocks } from '../../store/inventory/addresses.ts';
import { findTakenNames } from '../../store/inventory/hosts.ts';
import { createBlock, type NewBlock } from '../inventory/blocks.ts';
import {
  createHosts,
  createMachines,
  type HostShape,
  machineShapes,
  type NewHost,
  type NewMachines,
  type RegisterHosts,
} from '../inventory/hosts.ts';
import type { CatalogueFile } from './file-schema.ts';

export interface NewStock {
  readonly hosts: readonly NewHost[];
  readonly machines: readonly NewMachines[];
  readonly blocks: readonly NewBlock[];
}

/** Returns the stock of the file that the database lacks. */
export async function findMissingStock(tx: Sql, file: CatalogueFile): Promise<NewStock> {
  const { hosts = [], machines = [], ip_blocks: blocks = [] } = file.inventory ?? {};
  const listed = machines.map((entry) => ({
    regionId: entry.region,
    planId: entry.plan,
    names: Array.from({ length: entry.count }, (_, index) => `${entry.prefix}${index + 1}`),
  }));
  const names = [...hosts.map((host) => host.name), ...listed.flatMap((entry) => entry.names)];
  const taken = new Set(await findTakenNames(tx, names));
  const known = new Set(
    await findKnownBlocks(
      tx,
      blocks.map((entry) => entry.block),
    ),
  );
  return {
    hosts: hosts
      .filter((host) => !taken.has(host.name))
      .map((host) => ({
        name: host.name,
        regionId: host.region,
        cpu: host.cpu,
        ramMb: host.ram_mb,
        diskGb: host.disk_gb,
        tags: host.tags ?? [],
        reserveRamMb: host.reserve_ram_mb ?? 0,
        reserveDiskGb: host.reserve_disk_gb ?? 0,
      })),
    machines: listed
      .map((entry) => ({ ...entry, names: entry.names.filter((name) => !taken.has(name)) }))
      .filter((entry) => entry.names.length > 0),
    blocks: blocks
      .filter((entry) => !known.has(entry.block))
      .map((entry) => ({ regionId: entry.region, block: entry.block, gateway: entry.gateway ?? null })),
  };
}

/** Registers new hosts and machines with the compute driver before they count as stock. */
export async function registerStock(
  stock: NewStock,
  file: CatalogueFile,
  register: RegisterHosts,
): Promise<void> {
  await register(stock.hosts.map(toHostShape), 'vps');
  for (const entry of stock.machines) {
    const plan = file.plans.find(({ id }) => id === entry.planId);
    if (plan) await register(machineShapes(plan, entry.names), 'dedicated');
  }
}

function toHostShape({ name, cpu, ramMb, diskGb }: HostShape): HostShape {
  return { name, cpu, ramMb, diskGb };
}

export async function createStock(tx: Sql, stock: NewStock, now: Date): Promise<void> {
  await createHosts(tx, stock.hosts, now);
  for (const machines of stock.machines) await createMachines(tx, machines, now);
  for (const block of stock.blocks) await createBlock(tx, block, now);
}

function formatPlacement({ tags = [], reserveRamMb = 0, reserveDiskGb = 0 }: NewHost): string {
  return [
    ...(tags.length > 0 ? [`, tags ${tags.join(' ')}`] : []),
    ...(reserveRamMb > 0 ? [`, reserve_ram_mb ${reserveRamMb}`] : []),
    ...(reserveDiskGb > 0 ? [`, reserve_disk_gb ${reserveDiskGb}`] : []),
  ].join('');
}

export function formatStock(stock: NewStock): string[] {
  return [
    ...stock.hosts.map(
      (host) =>
        `+ host ${host.name} in ${host.regionId}: cpu ${host.cpu}, ram_mb ${host.ramMb}, disk_gb ` +
        `${host.diskGb}${formatPlacement(host)}`,
    ),
    ...stock.machines.map(
      (entry) => `+ machines in ${entry.regionId}: plan ${entry.planId}, ${entry.names.join(' ')}`,
    ),
    ...stock.blocks.map((entry) => `+ addresses in ${entry.regionId}: ${entry.block}`),
  ];
}
