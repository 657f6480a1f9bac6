/** When an install is done, and what follows from that. */
import { stat } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { probeSsh } from '../net/probe-ssh.ts';
import { Qmp } from '../qmp.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { removePreviousDisks, seedPath } from './disks.ts';
import { dropSecrets } from './seed.ts';
import { changeSeed } from './start.ts';

/** A guest whose network answers for so long, and has no SSH, is one without: its install is done as well. */
const NO_SSH_MS = 60_000;

/**
 * So is that of a guest which has run for so long and lets nobody near port 22: its user data may have closed it. Less than
 * the service waits before it takes the machine away.
 */
const NO_CONTACT_MAX_MS = { kvm: 600_000, tcg: 900_000 } as const;
/** From a snapshot nothing is installed: what is in it boots, and may have closed its port long ago. */
const RESTORED_NO_CONTACT_MAX_MS = { kvm: 60_000, tcg: 180_000 } as const;

/** Whether the guest that runs from the record's disk is done with its install; if so, that is kept. */
export async function detectInstallDone(host: QemuHost, record: MachineRecord): Promise<boolean> {
  const answer = await probeSsh(host, record.spec.ipv4.address);
  if (answer === 'ssh' || (await hasRunLong(host, record))) return await finishInstall(host, record);
  const { answersSince } = record;
  if (answer === 'refused' && answersSince !== null) {
    return Date.now() - Date.parse(answersSince) >= NO_SSH_MS && (await finishInstall(host, record));
  }
  const since = answer === 'refused' ? new Date().toISOString() : null;
  if (since !== answersSince) {
    await withSameInstall(host, record, async (now) =>
      writeRecord(host.layout, { ...now, answersSince: since }),
    );
  }
  return false;
}

/** Since its QEMU was started: while that was not there, no guest installed anything. */
async function hasRunLong(host: QemuHost, { spec, restored }: MachineRecord): Promise<boolean> {
  const pidFile = await stat(host.layout.runtimeFile(spec.id, 'pid')).catch(() => undefined);
  const limits = restored ? RESTORED_NO_CONTACT_MAX_MS : NO_CONTACT_MAX_MS;
  return pidFile !== undefined && Date.now() - pidFile.mtimeMs >= limits[host.options.accelerator];
}

/** Its secrets leave the host, and the disks before it go. Killed in between, it is done again. */
async function finishInstall(host: QemuHost, record: MachineRecord): Promise<boolean> {
  await withSameInstall(host, record, async (now) => {
    const { id } = now.spec;
    await dropSecrets(host, id, now.generation);
    const qmp = await Qmp.open(host.layout.runtimeFile(id, 'qmp'));
    try {
      if (qmp) await changeSeed(qmp, seedPath(host, id, now.generation));
    } finally {
      qmp?.close();
    }
    const installed = { ...now, installingSince: null, answersSince: null };
    await removePreviousDisks(host, installed);
    await writeRecord(host.layout, installed);
  });
  return true;
}

/** Unless the install that was looked at is over, one way or the other. */
async function withSameInstall(
  host: QemuHost,
  observed: MachineRecord,
  work: (now: MachineRecord) => Promise<void>,
): Promise<void> {
  await host.withMachineLock(observed.spec.id, async () => {
    const now = await readRecord(host.layout, observed.spec.id);
    if (now?.installingSince === observed.installingSince && now.generation === observed.generation)
      await work(now);
    else if (now?.generation !== observed.generation)
      throw new ComputeError('transient', 'the machine was changed');
  });
}
