/** The host's side: serves its compute driver to the control plane, and to no one else. */
import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { logFault } from '../../../kernel/faults/fault-log.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { ComputeDriver } from '../../../ports/compute.ts';
import { CallServer } from './call-server.ts';
import type { FileOffers } from './file-offers.ts';
import type { JoinOffer } from './join.ts';
import type { HostMembership } from './membership.ts';
import { tlsOptions } from './mutual-tls.ts';
import { STREAMS_MAX, WINDOW_BYTES } from './wire.ts';

/** Processes of the control plane and operator commands, with room for strangers who fail the handshake. */
const CONNECTIONS_MAX = 200;
const HANDSHAKE_TIMEOUT_MS = 5 * SECOND_MS;
const HEADERS_MAX_BYTES = 8_192;

export interface HostServerOptions {
  readonly driver: ComputeDriver;
  /** The certificate that it presents, and the control plane that may call. */
  readonly membership: HostMembership;
  /** Set while the host joins. */
  readonly join?: JoinOffer;
  /** Of the protocol. Default: all that this release speaks. */
  readonly versions?: readonly number[];
  readonly listen: { readonly host: string; readonly port: number };
  readonly log: Logger;
  /** How long a sender of a file may pause; 30 seconds by default. */
  readonly fileIdleMs?: number;
  /** The files that its listener for other hosts sends. Omitted: none. */
  readonly offers?: FileOffers;
}

export interface HostServer {
  readonly port: number;
  /** How many are open. */
  readonly connections: number;
  /** Ends all connections. Calls under way are still carried out. */
  close(): Promise<void>;
}

export async function startHostServer(options: HostServerOptions): Promise<HostServer> {
  const { membership, listen } = options;
  const calls = new CallServer(options);
  const server = createSecureServer({
    ...tlsOptions(membership.identity),
    requestCert: true,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    settings: {
      maxConcurrentStreams: STREAMS_MAX,
      maxHeaderListSize: HEADERS_MAX_BYTES,
      initialWindowSize: WINDOW_BYTES,
      enablePush: false,
    },
  });
  server.maxConnections = CONNECTIONS_MAX;
  membership.onChange((identity) => server.setSecureContext(tlsOptions(identity)));
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    session.on('error', () => session.destroy());
    session.setLocalWindowSize(WINDOW_BYTES);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    const admitted = admit(session, options);
    // Its streams wait for that: a certificate may have to be recorded first.
    session.on('stream', async (stream, headers) => {
      // The client is gone, or its stream was reset. A call under way continues.
      stream.on('error', () => undefined);
      if (await admitted) await calls.handle(stream, headers);
    });
  });
  // A handshake of a stranger that failed, or took too long: Node leaves the latter open.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sessions.size;
    },
    close: () => closeServer(server, sessions, sockets),
  };
}

/** Ends the session unless the peer is the control plane. */
async function admit(
  session: ServerHttp2Session,
  { membership, join, log }: Pick<HostServerOptions, 'membership' | 'join' | 'log'>,
): Promise<boolean> {
  const peer = (session.socket as TLSSocket).getPeerX509Certificate();
  const known = await membership.checkPeer(peer);
  const problem = known === null || join === undefined ? known : join.checkPeer(peer);
  if (problem === null) return true;
  const message = 'connection refused: not the control plane';
  logFault(log, 'warn', message, { err: null, place: problem, problem });
  session.destroy();
  return false;
}

async function closeServer(
  server: Http2SecureServer,
  sessions: ReadonlySet<ServerHttp2Session>,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const session of sessions) session.destroy();
  // A handshake under way has no session yet, and the server would wait for it.
  for (const socket of sockets) socket.destroy();
  await closed;
}
