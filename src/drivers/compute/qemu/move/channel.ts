/**
 * Connects the QEMU of a machine that is sent to the host that receives it. QEMU connects to sockets in its
 * run folder, and this process carries each connection to the other host. If this process ends, so do the
 * connections: the move fails, and the guest runs on here.
 */
import { once } from 'node:events';
import { chmod, chown, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Move } from '../../../../ports/moves.ts';
import { joinStreams, openPeerStream } from '../../host/peer.ts';
import type { QemuHost } from '../host.ts';
import { guestUid } from '../machine/isolation.ts';

/** Streams of a move, and QEMU's sockets for them. */
export const CARRIED = { disks: 'move-disks', memory: 'move-memory' } as const;

/** Open channels of this process by the id of their move. */
const channels = new Map<string, Channel>();

class Channel {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  async listen(path: string, carry: (socket: Socket) => Promise<void>): Promise<void> {
    await rm(path, { force: true });
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      // An error also closes the socket, which QEMU notices.
      socket.on('error', () => undefined);
      carry(socket).catch(() => socket.destroy());
    });
    this.#servers.push(server.unref().listen(path));
    await once(server, 'listening');
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Replaces an earlier channel of the move in this process. */
export async function openChannel(host: QemuHost, move: Move, address: string): Promise<void> {
  closeChannel(move.id);
  const channel = new Channel();
  channels.set(move.id, channel);
  const uid = await guestUid(host, move.machineId);
  // QEMU may pass through the folder, which stays ours, so it cannot replace anything in it.
  await chmod(dirname(host.layout.runtimeFile(move.machineId, 'qmp')), 0o711);
  for (const [name, file] of Object.entries(CARRIED) as [keyof typeof CARRIED, 'move-disks'][]) {
    const path = host.layout.runtimeFile(move.machineId, file);
    await channel.listen(path, async (socket) => {
      joinStreams(socket, await openPeerStream(address, move, name));
    });
    await chown(path, uid, uid);
  }
}

/** Removes the sockets, also those of another process that is gone. */
export async function removeChannel(host: QemuHost, machineId: string, moveId: string): Promise<void> {
  closeChannel(moveId);
  for (const file of Object.values(CARRIED))
    await rm(host.layout.runtimeFile(machineId, file), { force: true });
  const folder = dirname(host.layout.runtimeFile(machineId, 'qmp'));
  await chmod(folder, 0o700).catch(() => undefined);
}

function closeChannel(moveId: string): void {
  channels.get(moveId)?.close();
  channels.delete(moveId);
}
