import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { Qmp } from '../qmp.ts';
import { networkCard } from './command-line.ts';

const UNPLUG_MAX_MS = 10_000;

/**
 * QEMU cannot reopen a tap that was deleted and recreated. Unplug the guest's network card and plug the same
 * one into the new tap: the guest sees its network disconnect and reconnect.
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

/** An earlier call that was killed may already have removed either part. */
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
      'the guest does not release its network card; restart the guest to fix it',
    );
  }
  await qmp.execute('netdev_del', { id: 'net' }).catch(() => undefined);
}
