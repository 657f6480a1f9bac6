/** Detects when an install is done and cleans up after it. */
import { stat } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { withQmp } from '../qmp.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { removePreviousDisks, seedPath } from './disks.ts';
import { giveFile } from './isolation.ts';
import { dropSecrets } from './seed.ts';
import { changeSeed } from './start.ts';

/** A guest that refuses SSH connections for this long has no SSH: its install counts as done. */
const NO_SSH_MS = 60_000;

/**
 * A guest that runs this long without answering on port 22 also counts as done, since its user data may have
 * closed the port. This is less than the service's own timeout for an install.
 */
const NO_CONTACT_MAX_MS = { kvm: 600_000, tcg: 900_000 } as const;
/** A restored snapshot installs nothing: it only boots, and its port may have been closed long before. */
const RESTORED_NO_CONTACT_MAX_MS = { kvm: 60_000, tcg: 180_000 } as const;

/** Whether the guest on the record's disk has finished its install. If so, the record is updated. */
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

/** Measures from the start of QEMU, since nothing is installed while it does not run. */
async function hasRunLong(host: QemuHost, { spec, restored }: MachineRecord): Promise<boolean> {
  const pidFile = await stat(host.layout.runtimeFile(spec.id, 'pid')).catch(() => undefined);
  const limits = restored ? RESTORED_NO_CONTACT_MAX_MS : NO_CONTACT_MAX_MS;
  return pidFile !== undefined && Date.now() - pidFile.mtimeMs >= limits[host.options.accelerator];
}

/** Removes the install's secrets and the previous disks from the host. Safe to repeat after a kill. */
async function finishInstall(host: QemuHost, record: MachineRecord): Promise<boolean> {
  await withSameInstall(host, record, async (now) => {
    const { id } = now.spec;
    await dropSecrets(host, id, now.generation);
    const seed = seedPath(host, id, now.generation);
    await withQmp(host, id, async (qmp) => {
      if (!qmp) return;
      await giveFile(host, id, seed);
      await changeSeed(qmp, seed);
    });
    const installed = { ...now, installingSince: null, answersSince: null };
    await removePreviousDisks(host, installed);
    await writeRecord(host.layout, installed);
  });
  return true;
}

/** Runs the work unless the observed install has ended meanwhile. */
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

/** Limits for the whole probe, and for the greeting on an open connection. */
const PROBE_TIMEOUT_S = 3;
const GREETING_TIMEOUT_S = 1.5;
/**
 * Reconnect this often to notice a guest that starts to listen. The kernel would retry only after a second.
 */
const RETRY_S = 0.4;

/**
 * bash speaks TCP without other programs, in whichever network namespace it runs. An SSH server sends its
 * greeting first. A slow connection attempt continues next to later ones: on a machine under load, each can
 * take longer than the interval. A blackhole route is an invalid argument.
 */
const PROBE_SCRIPT = `
exec 4<> <(:)
said=
until [ -n "$said" ]; do
  { exec 3<>"/dev/tcp/$1/22" && {
    IFS= read -r -t ${GREETING_TIMEOUT_S} line <&3; printf 'said %s\\n' "$line"; } } >&4 2>&1 &
  IFS= read -r -t ${RETRY_S} -u 4 said
done
# Errors of attempts that have already exited are expected.
kill -KILL $(jobs -p) 2>/dev/null
case $said in
  'said SSH-'*) echo ssh ;;
  'said '*) echo refused ;;
  *'No route'*|*'unreachable'*|*'timed out'*|*'Invalid argument'*) echo silent ;;
  *) echo refused ;;
esac`;

/** Probes TCP port 22. `ssh`: an install is done. `refused`: the network is up, but no SSH answers. */
export async function probeSsh(host: QemuHost, address: string): Promise<'ssh' | 'refused' | 'silent'> {
  // With a socket as standard input, bash would read root's .bashrc, which may take longer than the probe.
  const bash = ['env', 'LC_ALL=C', 'bash', '--norc', '-c', PROBE_SCRIPT, 'knock', address];
  try {
    const output = (await host.runInNet('timeout', ['-k', '1', String(PROBE_TIMEOUT_S), ...bash])).trim();
    return output === 'ssh' || output === 'refused' ? output : 'silent';
  } catch {
    // The connection attempt was still pending.
    return 'silent';
  }
}
