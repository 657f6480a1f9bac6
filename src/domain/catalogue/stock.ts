/** The inventory that a catalogue file lists: what is not there yet is added; nothing is changed or taken away. */
import type { Sql } from '../../kernel/sql.ts';
import { findKnownBlocks } from '../../store/addresses.ts';
import { findTakenNames } from '../../store/hosts.ts';
import { type NewBlock, placeBlock } from '../inventory/blocks.ts';
import { type HostShape, type NewHost, placeHosts, type RegisterHosts } from '../inventory/hosts.ts';
import { machineShapes, type NewMachines, placeMachines } from '../inventory/machines.ts';
import type { CatalogueFile } from './file.ts';

export interface NewStock {
  readonly hosts: readonly NewHost[];
  readonly machines: readonly NewMachines[];
  readonly blocks: readonly NewBlock[];
}

/** What of the file's inventory is missing. */
export async function missingStock(tx: Sql, file: CatalogueFile): Promise<NewStock> {
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
      })),
    machines: listed
      .map((entry) => ({ ...entry, names: entry.names.filter((name) => !taken.has(name)) }))
      .filter((entry) => entry.names.length > 0),
    blocks: blocks
      .filter((entry) => !known.has(entry.block))
      .map((entry) => ({ regionId: entry.region, block: entry.block, gateway: entry.gateway ?? null })),
  };
}

/** Tells the compute driver of what it must know before the stock is counted on. */
export async function registerStock(
  stock: NewStock,
  file: CatalogueFile,
  register: RegisterHosts,
): Promise<void> {
  await register(stock.hosts.map(shapeOf), 'vps');
  for (const entry of stock.machines) {
    const plan = file.plans.find(({ id }) => id === entry.planId);
    if (plan) await register(machineShapes(plan, entry.names), 'dedicated');
  }
}

function shapeOf({ name, cpu, ramMb, diskGb }: HostShape): HostShape {
  return { name, cpu, ramMb, diskGb };
}

export async function placeStock(tx: Sql, stock: NewStock, now: Date): Promise<void> {
  await placeHosts(tx, stock.hosts, now);
  for (const machines of stock.machines) await placeMachines(tx, machines, now);
  for (const block of stock.blocks) await placeBlock(tx, block, now);
}

export function stockLines(stock: NewStock): string[] {
  return [
    ...stock.hosts.map(
      (host) =>
        `+ host ${host.name} in ${host.regionId}: cpu ${host.cpu}, ram_mb ${host.ramMb}, disk_gb ${host.diskGb}`,
    ),
    ...stock.machines.map(
      (entry) => `+ machines in ${entry.regionId}: plan ${entry.planId}, ${entry.names.join(' ')}`,
    ),
    ...stock.blocks.map((entry) => `+ addresses in ${entry.regionId}: ${entry.block}`),
  ];
}
