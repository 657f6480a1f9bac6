/** Handles the streams of moves to this host (`peer-listener.ts`). */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { ComputeError } from '../../../../ports/compute.ts';
import { joinStreams } from '../../host/peer.ts';
import type { ExpectedTransfer, PeerTransfers } from '../../host/peer-listener.ts';
import type { QemuHost } from '../host.ts';
import { CARRIED } from './channel.ts';
import { readIncomingDisk } from './disk/incoming-disk.ts';
import { COPY_STREAM } from './disk/messages.ts';
import { takeCopy } from './disk/receive-disk.ts';
import { readReceivedMove } from './incoming.ts';
import { answerWith, type FinishRequest, type PrepareRequest, REQUESTS } from './messages.ts';
import { finishIncoming, prepareIncoming } from './receive.ts';

export function moveTransfers(host: QemuHost): PeerTransfers {
  return {
    find: (moveId) => {
      const disk = readIncomingDisk(host.layout, moveId);
      if (disk) return { id: moveId, key: Buffer.from(disk.key, 'hex'), open: openDiskStream(host, moveId) };
      const move = readReceivedMove(host.layout, moveId);
      if (move === undefined) return undefined;
      const { machineId } = move;
      return {
        id: moveId,
        key: Buffer.from(move.key, 'hex'),
        open: (name, stream) => openStream(host, { moveId, machineId }, { name, stream }),
      };
    },
  };
}

function openDiskStream(host: QemuHost, moveId: string): ExpectedTransfer['open'] {
  return (name, stream) => {
    if (name === COPY_STREAM) void takeCopy(host, moveId, stream);
    else stream.destroy();
  };
}

function openStream(
  host: QemuHost,
  move: { readonly moveId: string; readonly machineId: string },
  { name, stream }: { readonly name: string; readonly stream: Duplex },
): void {
  const onError = (error: unknown) => {
    if (error instanceof ComputeError) return;
    host.log.warn({ err: error, machine: move.machineId }, 'receiving a machine failed');
  };
  if (name === 'disks' || name === 'memory') {
    const socket = connect(host.layout.runtimeFile(move.machineId, CARRIED[name]));
    joinStreams(stream, socket);
  } else if (name === 'prepare') {
    void answerWith(
      stream,
      async (question) => {
        if (!REQUESTS.prepare.question.Check(question)) throw notUnderstood();
        return await prepareIncoming(host, move, question as PrepareRequest);
      },
      onError,
    );
  } else if (name === 'finish') {
    void answerWith(
      stream,
      async (question) => {
        if (!REQUESTS.finish.question.Check(question)) throw notUnderstood();
        return await finishIncoming(host, move, question as FinishRequest);
      },
      onError,
    );
  } else stream.destroy();
}

function notUnderstood(): ComputeError {
  return new ComputeError('refused', 'the hosts run versions of Skerry that differ too much');
}
