/**
 * Streams between two hosts that transfer data, over TLS 1.3 with a key made for that transfer alone: both
 * sides prove that they have it, and there are no certificates. Each connection carries one stream of raw
 * bytes, whose name is its first line. The keys of the connections do not depend on the transfer's key alone,
 * so that a key that leaks later opens no recorded transfer.
 */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { ComputeError } from '../../../ports/compute.ts';

export const STREAM_NAME = /^[A-Za-z0-9._:-]{1,120}$/;
/** A host that was cut off without a word is noticed within about two minutes. */
export const KEEP_ALIVE_MS = 15 * SECOND_MS;
const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;

/** The only cipher suite that a key of no particular hash goes with. */
export const PEER_TLS = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
} as const;

export interface PeerTransfer {
  /** Names the transfer to strangers, too. */
  readonly id: string;
  /** 32 random bytes that only this transfer uses. */
  readonly key: Uint8Array;
}

/** Opens a stream to the host at the address. Throws `transient` if it does not take it. */
export async function openPeerStream(address: string, transfer: PeerTransfer, name: string): Promise<Duplex> {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
  const socket = connect({
    ...PEER_TLS,
    host,
    port: Number(port),
    pskCallback: () => ({ psk: transfer.key, identity: transfer.id }),
    // Without certificates there are no names.
    checkServerIdentity: () => undefined,
  });
  try {
    await withTimeout(once(socket, 'secureConnect'), CONNECT_TIMEOUT_MS);
  } catch {
    socket.destroy();
    throw new ComputeError('transient', 'the other host does not accept the transfer');
  }
  prepare(socket);
  socket.write(`${name}\n`);
  return socket;
}

/** Carries bytes both ways until either stream closes, and then closes the other. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined).once('close', () => to.destroy());
    from.pipe(to);
  }
}

/** Settings of both sides. An error also closes the stream, which is what its users watch. */
export function prepare(socket: TLSSocket): void {
  socket.on('error', () => undefined);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
}
