/** One HTTP/2 session from the control plane to a host. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fingerprintOf, type TlsIdentity } from '../../../kernel/certificates.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { Backend, ControlPlaneCredentials } from '../../../ports/backends.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { ErrorAnswer } from './methods.ts';
import { hostProblem, type PeerCertificate, type PeerProblem, tlsOptions } from './mutual-tls.ts';
import { readStream } from './read-stream.ts';
import { ANSWER_MAX_BYTES, parseJson } from './wire.ts';

export const CONNECT_TIMEOUT_MS = 3 * SECOND_MS;

/** Nothing was sent. */
export class NotConnected extends ComputeError {
  constructor(message: string) {
    super('host', message);
  }
}

/** The host's version does not have the call. */
export class UnknownCall extends ComputeError {
  constructor() {
    super('refused', 'the host does not know this call');
  }
}

/**
 * Opens a session to a host. Throws `NotConnected`, before anything is sent, unless the peer is that host.
 * `mayBeExpired` accepts its latest certificate after its end.
 */
export async function openHostSession(
  backend: Backend,
  credentials: ControlPlaneCredentials,
  { mayBeExpired = false } = {},
): Promise<ClientHttp2Session> {
  const { selfSigned, issued } = credentials;
  // A host that has no certificate of the authority knows only our former one.
  const identity = backend.isIssued || selfSigned === null ? issued : selfSigned;
  return await openSession(backend.address, identity, (peer) => {
    const problem = hostProblem(peer, backend, credentials);
    if (problem === null) return;
    if (problem === 'expired certificate' && mayBeExpired && isLatest(peer, backend)) return;
    throw new NotConnected(describeProblem(backend.name, problem));
  });
}

/** Opens a session. `checkPeer` throws unless the peer is the right one; nothing is sent before. */
export async function openSession(
  address: string,
  identity: TlsIdentity,
  checkPeer: (peer: PeerCertificate) => void,
): Promise<ClientHttp2Session> {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
  const options = { ...tlsOptions(identity), host, port: Number(port), ALPNProtocols: ['h2'] };
  const socket = connectTls(options);
  try {
    await withTimeout(secured(socket), CONNECT_TIMEOUT_MS);
    checkPeer(socket.getPeerX509Certificate());
    const session = connect('https://skerry-host', { createConnection: () => socket });
    // Its streams fail with it, and they report it.
    session.on('error', () => undefined);
    session.unref();
    return session;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

export function post(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': path }, { endStream: false });
}

/** Returns the answer to one request as JSON. Throws `UnknownCall`, the host's error, or a TimeoutError. */
export async function ask(
  session: ClientHttp2Session,
  path: string,
  body: object,
  { timeoutMs, maxBytes = ANSWER_MAX_BYTES }: { readonly timeoutMs: number; readonly maxBytes?: number },
): Promise<unknown> {
  const stream = post(session, path);
  let status = 0;
  stream.once('response', (headers) => {
    status = Number(headers[':status']);
  });
  stream.end(JSON.stringify(body));
  const answer = parseJson(await readStream(stream, { maxBytes, timeoutMs }));
  if (status === constants.HTTP_STATUS_BAD_REQUEST) throw new UnknownCall();
  if (ErrorAnswer.Check(answer)) throw new ComputeError('transient', answer.error.message);
  return answer;
}

function isLatest(peer: PeerCertificate, { fingerprint }: Backend): boolean {
  return peer !== undefined && fingerprintOf(peer) === fingerprint;
}

function describeProblem(name: string, problem: PeerProblem): string {
  if (problem === 'expired certificate') return `the certificate of host ${name} has expired`;
  if (problem === 'future certificate')
    return `the certificate of host ${name} is not valid yet: check the clock of this machine`;
  return `another machine answers for host ${name}: ${problem}`;
}

async function secured(socket: TLSSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('secureConnect', resolve);
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('the connection was closed')));
  await promise;
}
