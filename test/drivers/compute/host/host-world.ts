/** A host that serves a simulator over TLS, and the control plane's driver for it. */
import { randomUUID } from 'node:crypto';
import { openHostDriver } from '../../../../src/drivers/compute/host/driver.ts';
import type { FileOffers } from '../../../../src/drivers/compute/host/file-offers.ts';
import { HostMembership, type Membership } from '../../../../src/drivers/compute/host/membership.ts';
import { type HostServer, startHostServer } from '../../../../src/drivers/compute/host/server.ts';
import {
  type CertificateSubject,
  CONTROL_PLANE,
  createAuthority,
  createRequest,
  createTemporary,
  fingerprintOf,
  hostSubject,
  issueIdentity,
  type TlsIdentity,
} from '../../../../src/kernel/certificates.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import type { Backend, ControlPlaneCredentials } from '../../../../src/ports/backends.ts';
import type { ComputeDriver } from '../../../../src/ports/compute.ts';

type HostDriver = ReturnType<typeof openHostDriver>;
type Wanted = Partial<Parameters<typeof openHostDriver>[0]>;

export interface HostWorld {
  readonly driver: HostDriver;
  readonly server: HostServer;
  readonly authority: TlsIdentity;
  readonly credentials: ControlPlaneCredentials;
  readonly backend: Backend;
  /** The membership on the host's disk. */
  readonly stored: Membership;
  /** Opens another driver, as another process of the control plane would. */
  connect(wanted?: Wanted): HostDriver;
  /** Ends the host's process and starts it again on its port, with what it has on its disk or `stored`. */
  restart(stored?: Membership): Promise<void>;
  nextCall(): Promise<number>;
  close(): Promise<void>;
}

export interface HostWorldOptions {
  /** That of a service. Omitted: an authority of its own. */
  readonly authority?: TlsIdentity;
  /** When its certificate was issued. */
  readonly issuedAt?: Date;
  /** Of the protocol, on the host. */
  readonly versions?: readonly number[];
  /** Both sides are self-signed, as before there was an authority. */
  readonly isEarlier?: boolean;
  readonly fileIdleMs?: number;
  readonly offers?: FileOffers;
}

/** Issues a certificate, by an authority of its own unless one is given. */
export async function identity(
  subject: CertificateSubject,
  { authority, now }: { readonly authority?: TlsIdentity; readonly now?: Date } = {},
): Promise<TlsIdentity> {
  const by = authority ?? (await createAuthority());
  return await issueIdentity(by, { name: 'test', subject, ...(now ? { now } : {}) });
}

export async function selfSigned(): Promise<TlsIdentity> {
  return await createTemporary((await createRequest('test')).key);
}

export async function hostWorld(driver: ComputeDriver, options: HostWorldOptions = {}): Promise<HostWorld> {
  const { versions, issuedAt, fileIdleMs, offers, isEarlier = false } = options;
  const id = randomUUID();
  const authority = options.authority ?? (await createAuthority());
  const former = isEarlier ? await selfSigned() : null;
  const credentials: ControlPlaneCredentials = {
    authority: authority.certificate,
    issued: await identity(CONTROL_PLANE, { authority }),
    selfSigned: former,
  };
  const issued = () => identity(hostSubject(id), { authority, ...(issuedAt ? { now: issuedAt } : {}) });
  let stored: Membership = {
    name: 'far',
    identity: isEarlier ? await selfSigned() : await issued(),
    controlPlane: {
      authority: isEarlier ? null : authority.certificate,
      former: former === null ? null : fingerprintOf(former.certificate),
    },
  };
  const log = createLogger('silent');
  const start = (port: number) =>
    startHostServer({
      driver,
      membership: new HostMembership(stored, async (next) => {
        stored = next;
      }),
      listen: { host: '127.0.0.1', port },
      log,
      ...(versions === undefined ? {} : { versions }),
      ...(fileIdleMs === undefined ? {} : { fileIdleMs }),
      ...(offers === undefined ? {} : { offers }),
    });
  let server = await start(0);
  const { port } = server;
  const backend: Backend = {
    name: 'far',
    kind: 'host',
    address: `127.0.0.1:${port}`,
    fingerprint: fingerprintOf(stored.identity.certificate),
    identity: isEarlier ? null : id,
    isIssued: !isEarlier,
    inUse: true,
  };
  let calls = 0;
  const nextCall = async () => ++calls;
  const opened: HostDriver[] = [];
  const connect: HostWorld['connect'] = (wanted = {}) => {
    const { capabilities } = driver;
    const remote = openHostDriver({
      backend,
      credentials: async () => credentials,
      nextCall,
      capabilities,
      ...wanted,
    });
    opened.push(remote);
    return remote;
  };
  return {
    driver: connect(),
    get server() {
      return server;
    },
    get stored() {
      return stored;
    },
    authority,
    credentials,
    backend,
    connect,
    restart: async (next = stored) => {
      await server.close();
      stored = next;
      server = await start(port);
    },
    nextCall,
    close: async () => {
      for (const remote of opened) remote.close();
      await server.close();
    },
  };
}
