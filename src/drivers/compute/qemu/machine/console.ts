import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { readRecord } from '../record.ts';
import { machineNotFound } from './ensure.ts';
import { readQemuState } from './qemu-state.ts';

/** Connects to QEMU's VNC server, whose socket only root can open. Several viewers can share it. */
export async function openConsole(host: QemuHost, id: string): Promise<Duplex> {
  if (!(await readRecord(host.layout, id))) throw machineNotFound();
  const { state } = await readQemuState(host, id);
  if (state === 'gone' || state === 'off' || state === 'begun')
    throw new ComputeError('refused', 'the machine is off');
  const socket = connect(host.layout.runtimeFile(id, 'vnc'));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  if (await promise) return socket;
  throw new ComputeError('transient', 'the console of the machine cannot be opened');
}
