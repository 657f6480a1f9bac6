/**
 * The network of one machine, made from its record: its tap and routes (`link.ts`), its rules (`chains.ts`),
 * and its speed limit (`speed-limit.ts`). The caller of a function with a record holds the machine's lock.
 */
import { ComputeError, type Traffic } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import type { QemuHost } from '../host.ts';
import { networkCard } from '../machine/command-line.ts';
import { guestUid } from '../machine/isolation.ts';
import { findProcesses, readProcessUid } from '../processes.ts';
import { type QmpEvent, withQmp } from '../qmp.ts';
import {
  isSent,
  type MachineRecord,
  readRecord,
  requireNotSent,
  withMachine,
  writeRecord,
} from '../record.ts';
import { announceMachines } from './announce.ts';
import { syncBlackhole } from './blackhole.ts';
import { machineChains } from './chains.ts';
import {
  ensureTap,
  hasLink,
  linkBatch,
  linkSettings,
  removeLink,
  routeBatch,
  toMachineLink,
  unrouteBatch,
} from './link.ts';
import { readAllowedNetworks } from './private-networks.ts';
import { applyRuleset, machineRules, removeMachineRules } from './ruleset.ts';
import { limitSpeed, removeEgressLink } from './speed-limit.ts';

const UNPLUG_MAX_MS = 10_000;

interface PlugOptions {
  /** The user of a QEMU that runs, if known. */
  readonly uid?: number | undefined;
  /** Whether its addresses are routed to it; not while another host has them. */
  readonly isRouted?: boolean;
}

/**
 * Creates any missing part of the machine's tap, routes, spoofing guard, filter, and limits. Safe to repeat
 * at any time, also while the machine runs.
 */
export async function plugNetwork(
  host: QemuHost,
  record: MachineRecord,
  { uid, isRouted = !isSent(record) }: PlugOptions = {},
): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // Install the guard first: the tap must never exist without it.
  const chains = machineChains(link, record, await readAllowedNetworks(host));
  await applyRuleset(host, machineRules(link.tap, chains));
  await ensureTap(host, link.tap, uid ?? (await guestUid(host, record.spec.id)));
  await host.runInNet('sysctl', ['-q', '-w', ...linkSettings(link.tap)]);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
  await host.runInNet('ip', ['-batch', '-'], { input: linkBatch(link, isRouted, record.traffic.blackholed) });
  await announceMachines(host);
}

/** Routes the addresses of a plugged machine to it. If its tap is missing, it is started again anyway. */
export async function routeNetwork(host: QemuHost, { spec, traffic }: MachineRecord): Promise<void> {
  const input = routeBatch(toMachineLink(host, spec), traffic.blackholed);
  await host.runInNet('ip', ['-batch', '-'], { input }).catch(() => undefined);
  await announceMachines(host);
}

/** Stops routing the machine's addresses to it. A machine that is not plugged has no routes. */
export async function unrouteNetwork(host: QemuHost, { spec }: MachineRecord): Promise<void> {
  const link = toMachineLink(host, spec);
  if (!(await hasLink(host, link.tap))) return;
  await host.runInNet('ip', ['-batch', '-'], { input: unrouteBatch(link) });
  await announceMachines(host);
}

/** Removes everything that `plugNetwork` created. Missing parts are not an error. */
export async function unplugNetwork(host: QemuHost, id: string): Promise<void> {
  const tap = host.tap(id);
  await removeLink(host, tap);
  await removeEgressLink(host, tap);
  await applyRuleset(host, removeMachineRules(tap));
  await announceMachines(host);
}

export async function setFilter(host: QemuHost, id: string, filter: Filter | null): Promise<void> {
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    requireNotSent(record);
    if (record) await storeAndApply(host, { ...record, filter });
    else if (filter) throw new ComputeError('refused', 'machine not found');
  });
}

export async function setTraffic(host: QemuHost, id: string, traffic: Traffic): Promise<void> {
  await withMachine(host, id, async (record) => {
    const { blackholed = record.traffic.blackholed } = traffic;
    const wanted = { ...record, traffic: { ...traffic, ...(blackholed && { blackholed }) } };
    await storeAndApply(host, wanted);
    if (!blackholed?.length && !record.traffic.blackholed?.length) return;
    await syncBlackhole(host, wanted);
    await announceMachines(host);
  });
}

/** The record comes first, so a stopped machine gets the settings when it starts. */
async function storeAndApply(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // Build the rules before storing the record, so that an invalid filter is rejected and not stored.
  const chains = machineChains(link, record, await readAllowedNetworks(host));
  const rules = machineRules(link.tap, chains);
  await writeRecord(host.layout, record);
  if (!(await hasLink(host, link.tap))) return;
  await applyRuleset(host, rules);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
}

/**
 * Restores the network of a running machine whose tap was deleted. QEMU cannot reopen a tap that was deleted
 * and recreated, so unplug the guest's network card and plug the same one into the new tap: the guest sees
 * its network disconnect and reconnect.
 */
export async function replugNetwork(host: QemuHost, record: MachineRecord): Promise<void> {
  const { id } = record.spec;
  // A QEMU that an earlier version of the service started runs as root.
  const [qemu] = await findProcesses(host.layout.runtimeFile(id, 'qmp'));
  const isRoot = qemu !== undefined && (await readProcessUid(qemu.pid)) === 0;
  await plugNetwork(host, record, { uid: isRoot ? 0 : undefined });
  await withQmp(host, id, async (qmp) => {
    if (!qmp) return;
    // An earlier call that was killed may already have removed either part.
    const wasPlugged = await qmp.execute('device_del', { id: 'dev-net' }).then(
      () => true,
      () => false,
    );
    const isCardDeleted = ({ event, data }: QmpEvent) =>
      event === 'DEVICE_DELETED' && data?.device === 'dev-net';
    if (wasPlugged && !(await qmp.waitForEvent(isCardDeleted, UNPLUG_MAX_MS))) {
      throw new ComputeError(
        'transient',
        'the guest does not release its network card; restart the guest to fix it',
      );
    }
    await qmp.execute('netdev_del', { id: 'net' }).catch(() => undefined);
    const { netdev, device } = networkCard(host.tap(id), host.mac(id));
    await qmp.execute('netdev_add', netdev);
    await qmp.execute('device_add', device);
  });
}
