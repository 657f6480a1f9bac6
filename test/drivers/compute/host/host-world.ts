/** A host that serves a simulator over TLS, and the control plane's driver for it. */
import { openHostDriver } from '../../../../src/drivers/compute/host/driver.ts';
import { fingerprintOf, type TlsIdentity } from '../../../../src/drivers/compute/host/pinned-tls.ts';
import { type HostServer, startHostServer } from '../../../../src/drivers/compute/host/server.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import type { ComputeDriver } from '../../../../src/ports/compute.ts';
import { createAuthority } from '../../../support/certificates.ts';

export interface HostWorld {
  readonly driver: ReturnType<typeof openHostDriver>;
  readonly server: HostServer;
  readonly host: TlsIdentity;
  readonly controlPlane: TlsIdentity;
  /** Opens another driver, as another process of the control plane would. */
  connect(wanted?: Partial<Parameters<typeof openHostDriver>[0]>): ReturnType<typeof openHostDriver>;
  /** Ends the host's process and starts it again on its port. */
  restart(): Promise<void>;
  nextCall(): Promise<number>;
  close(): Promise<void>;
}

const authority = createAuthority();

export function identity(name: string, options: { readonly expired?: boolean } = {}): TlsIdentity {
  const { cert, key } = authority.issue([name], options);
  return { certificate: cert, key };
}

export async function hostWorld(
  driver: ComputeDriver,
  wanted: { readonly fileIdleMs?: number } = {},
): Promise<HostWorld> {
  const [host, controlPlane] = [identity('host'), identity('control-plane')];
  const log = createLogger('silent');
  const start = (port: number) =>
    startHostServer({
      driver,
      identity: host,
      controlPlane: fingerprintOf(controlPlane.certificate),
      listen: { host: '127.0.0.1', port },
      log,
      ...wanted,
    });
  let server = await start(0);
  const { port } = server;
  let calls = 0;
  const nextCall = async () => ++calls;
  const opened: ReturnType<typeof openHostDriver>[] = [];
  const connect: HostWorld['connect'] = (wanted = {}) => {
    const backend = {
      name: 'far',
      address: `127.0.0.1:${port}`,
      fingerprint: fingerprintOf(host.certificate),
    };
    const { capabilities } = driver;
    const remote = openHostDriver({
      backend,
      identity: async () => controlPlane,
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
    host,
    controlPlane,
    connect,
    restart: async () => {
      await server.close();
      server = await start(port);
    },
    nextCall,
    close: async () => {
      for (const remote of opened) remote.close();
      await server.close();
    },
  };
}
