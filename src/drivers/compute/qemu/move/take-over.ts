/**
 * Makes an incoming machine one of this host, and runs it. Called after the commit that gave it to this host,
 * so from here on only this host may run it. The record is written last of the files: until then the machine
 * is incoming, and a repeated call starts over.
 */
import { link, rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { Move } from '../../../../ports/moves.ts';
import { exists } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { bootName } from '../machine/qemu-state.ts';
import { reconcile } from '../machine/start.ts';
import { plugNetwork, routeNetwork, unplugNetwork } from '../net/network.ts';
import { withQmp } from '../qmp.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { takeClaim } from '../storage/claims.ts';
import { writeVolume } from '../storage/volume-record.ts';
import { plugVolumes } from '../storage/volumes.ts';
import { type Incoming, incomingVolume, readIncoming, removeReceivedMove } from './incoming.ts';
import { toRecord } from './receive.ts';

export async function takeOverMachine(host: QemuHost, move: Move): Promise<void> {
  const id = move.machineId;
  await host.withMachineLock(id, async () => {
    const incoming = await readIncoming(host.layout, id);
    if (incoming?.moveId === move.id) await adopt(host, incoming);
    else if (!(await readRecord(host.layout, id)))
      throw new ComputeError('transient', 'the host has no copy of the machine');
    await removeReceivedMove(host.layout, move.id);
  });
}

async function adopt(host: QemuHost, incoming: Incoming): Promise<void> {
  const { id } = incoming.spec;
  if (incoming.state === null || !incoming.isComplete)
    throw new ComputeError('transient', 'the copy of the machine is not complete');
  const record = (await readRecord(host.layout, id)) ?? toRecord(incoming, incoming.state);
  await adoptVolumes(host, incoming);
  await writeRecord(host.layout, record);
  if (record.power === 'on') {
    // Its filter is in force since it was prepared. Every millisecond counts: the guest is paused.
    const [hasResumed] = await Promise.all([resume(host, record), routeNetwork(host, record)]);
    await takeSharedVolumes(host, incoming);
    if (!hasResumed) await reconcile(host, record);
    await plugNetwork(host, record);
  } else {
    await takeSharedVolumes(host, incoming);
    await reconcile(host, record);
    await unplugNetwork(host, id);
  }
  await rm(host.layout.machine(id, 'incoming.json'), { force: true });
}

/** Volumes get their names and records. Each step may be done already. */
async function adoptVolumes(host: QemuHost, { spec, volumes }: Incoming): Promise<void> {
  const { layout } = host;
  for (const { id, sizeGb, device, shared } of volumes) {
    const path = layout.volume(id, 'qcow2');
    const record = { id, sizeGb, machineId: spec.id, device, leaving: false, made: true } as const;
    await writeVolume(layout, shared ? { ...record, shared } : record);
    if (!shared && !(await exists(path))) await link(incomingVolume(layout, spec.id, id), path);
  }
}

/**
 * The source's claims become those of this host. Its QEMU has the images open: it only waits for the claims
 * if it has to be started again, perhaps by a call that was killed, and then it has started without them.
 */
async function takeSharedVolumes(host: QemuHost, { spec, claims = {} }: Incoming): Promise<void> {
  if (Object.keys(claims).length === 0) return;
  for (const [volumeId, claim] of Object.entries(claims)) await takeClaim(host, volumeId, claim);
  await withQmp(host, spec.id, async (qmp) => qmp && (await plugVolumes(host, spec.id, qmp)));
}

/** Continues the guest that arrived. Returns false if this QEMU does not have it. */
async function resume(host: QemuHost, record: MachineRecord): Promise<boolean> {
  return await withQmp(host, record.spec.id, async (qmp) => {
    if (!qmp) return false;
    const { name } = await qmp.execute<{ readonly name?: string }>('query-name');
    const { status } = await qmp.execute<{ readonly status: string }>('query-status');
    if (name !== bootName(record)) return false;
    if (status === 'running') return true;
    if (status !== 'paused') return false;
    // Its writes are only for the copy, which is complete.
    await qmp.execute('nbd-server-stop').catch(() => undefined);
    await qmp.execute('cont');
    return true;
  });
}
