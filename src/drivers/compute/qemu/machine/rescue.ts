import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { RescueAccess } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { bootName } from './booted.ts';
import { forgetCrashes } from './crashes.ts';
import { rescuePath } from './disks.ts';
import { absent } from './ensure.ts';
import { isMute, lookAt } from './look.ts';
import { writeRescueSeed } from './seed.ts';
import { rescueBase, start } from './start.ts';

export async function rescueMachine(host: QemuHost, id: string, access: RescueAccess): Promise<void> {
  const digest = createHash('sha256').update(access.passwordHash).digest('hex');
  await host.aloneWith(id, async () => {
    const record = await readRecord(host.layout, id);
    if (!record) throw absent();
    if (await isInRescue(host, record, digest)) return;
    await rescueBase(host);
    // A fresh one each time: nothing stays of what another password opened.
    await rm(rescuePath(host, id, 'rescue.qcow2'), { force: true });
    await writeRescueSeed(host, record.spec, { passwordHash: access.passwordHash, digest });
    const next: MachineRecord = { ...record, power: 'on', rescue: digest };
    await writeRecord(host.layout, next);
    await forgetCrashes(host, id);
    await start(host, next);
  });
}

async function isInRescue(host: QemuHost, record: MachineRecord, digest: string): Promise<boolean> {
  if (record.rescue !== digest || record.power === 'off') return false;
  const sight = await lookAt(host, record.spec.id);
  return (sight.is === 'on' || isMute(sight)) && sight.name === bootName(record);
}
