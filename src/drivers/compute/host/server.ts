/** The host's side: serves its compute driver to the control plane, and to no one else. */
import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { logFault } from '../../../kernel/faults/fault-log.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { ComputeDriver } from '../../../ports/compute.ts';
import { CallServer } from './call-server.ts';
import type { JoinOffer } from './join.ts';
import { peerProblem, pinnedTlsOptions, type TlsIdentity } from './pinned-tls.ts';
import { STREAMS_MAX, WINDOW_BYTES } from './wire.ts';

/** Processes of the control plane and operator commands, with room for strangers who fail the handshake. */
const CONNECTIONS_MAX = 200;
const HANDSHAKE_TIMEOUT_MS = 5 * SECOND_MS;
const HEADERS_MAX_BYTES = 8_192;

export interface HostServerOptions {
  readonly driver: ComputeDriver;
  readonly identity: TlsIdentity;
  /** Fingerprint of the only certificate that may call. */
  readonly controlPlane: string;
  /** Set while the host joins. */
  readonly join?: JoinOffer;
  readonly listen: { readonly host: string; readonly port: number };
  readonly log: Logger;
  /** How long a sender of a file may pause; 30 seconds by default. */
  readonly fileIdleMs?: number;
}

export interface HostServer {
  readonly port: number;
  /** Ends all connections. Calls under way are still carried out. */
  close(): Promise<void>;
}

export async function startHostServer(options: HostServerOptions): Promise<HostServer> {
  const { identity, controlPlane, listen, log } = options;
  const calls = new CallServer(options);
  const server = createSecureServer({
    ...pinnedTlsOptions(identity),
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
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    session.on('error', () => session.destroy());
    const problem = peerProblem(session.socket as TLSSocket, controlPlane);
    if (problem !== null) {
      logFault(log, 'warn', 'connection refused: not the control plane', {
        err: null,
        place: problem,
        problem,
      });
      session.destroy();
      return;
    }
    session.setLocalWindowSize(WINDOW_BYTES);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('stream', (stream, headers) => void calls.handle(stream, headers));
  });
  // A handshake of a stranger that failed, or took too long: Node leaves the latter open.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeServer(server, sessions),
  };
}

async function closeServer(
  server: Http2SecureServer,
  sessions: ReadonlySet<ServerHttp2Session>,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const session of sessions) session.destroy();
  await closed;
}
