import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { Qmp } from '../qmp.ts';
import { networkCard } from './command-line.ts';

const UNPLUG_MAX_MS = 10_000;

/**
 * A tap that was deleted stays deleted for the QEMU that had it open. The guest's card is pulled out, and the same one is
 * put in on the tap that was made anew: the guest sees its network go and come.
 */
export async function replaceNic(host: QemuHost, id: string): Promise<void> {
  const qmp = await Qmp.open(host.layout.runtimeFile(id, 'qmp'));
  if (!qmp) return;
  try {
    await unplugNic(qmp);
    const { netdev, device } = networkCard(host.tap(id), host.mac(id));
    await qmp.execute('netdev_add', netdev);
    await qmp.execute('device_add', device);
  } finally {
    qmp.close();
  }
}

/** Each part may have been taken away by a call before that was killed. */
async function unplugNic(qmp: Qmp): Promise<void> {
  const wasPlugged = await qmp.execute('device_del', { id: 'dev-net' }).then(
    () => true,
    () => false,
  );
  const isNicDeleted = ({ event, data }: { event: string; data?: Readonly<Record<string, unknown>> }) =>
    event === 'DEVICE_DELETED' && data?.device === 'dev-net';
  if (wasPlugged && !(await qmp.waitForEvent(isNicDeleted, UNPLUG_MAX_MS))) {
    throw new ComputeError(
      'transient',
      'the guest does not let go of its network card; a restart of it cures that',
    );
  }
  await qmp.execute('netdev_del', { id: 'net' }).catch(() => undefined);
}
