import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { RescueAccess } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { bootName } from './boot-name.ts';
import { resetCrashes } from './crashes.ts';
import { rescuePath } from './disks.ts';
import { machineNotFound } from './ensure.ts';
import { isUnresponsive, readQemuState } from './qemu-state.ts';
import { writeRescueSeed } from './seed.ts';
import { requireRescueImage, start } from './start.ts';

export async function rescueMachine(host: QemuHost, id: string, access: RescueAccess): Promise<void> {
  const digest = createHash('sha256').update(access.passwordHash).digest('hex');
  await host.withMachineLock(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw machineNotFound();
    if (await isInRescue(host, record, digest)) return;
    await requireRescueImage(host);
    // Start from a fresh disk each time, so that nothing from an earlier rescue remains.
    await rm(rescuePath(host, id, 'rescue.qcow2'), { force: true });
    await writeRescueSeed(host, record.spec, { passwordHash: access.passwordHash, digest });
    const next: MachineRecord = { ...record, power: 'on', rescue: digest };
    await writeRecord(host.layout, next);
    await resetCrashes(host, id);
    await start(host, next);
  });
}

async function isInRescue(host: QemuHost, record: MachineRecord, digest: string): Promise<boolean> {
  if (record.rescue !== digest || record.power === 'off') return false;
  const sight = await readQemuState(host, record.spec.id);
  return (sight.state === 'on' || isUnresponsive(sight)) && sight.name === bootName(record);
}
