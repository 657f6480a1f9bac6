/** Hosts on other machines: the composed compute driver, and the control plane's side of joining. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { ensureControlPlane, readControlPlane } from '../domain/inventory/remote-hosts.ts';
import { composeCompute } from '../drivers/compute/composed/driver.ts';
import type { RemoteCompute } from '../drivers/compute/composed/link.ts';
import { createIdentity } from '../drivers/compute/host/certificate.ts';
import { openHostDriver } from '../drivers/compute/host/driver.ts';
import { askToJoin, CODE_VALID_MS, createCode } from '../drivers/compute/host/join.ts';
import { fingerprintOf } from '../drivers/compute/host/pinned-tls.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { HostInviter } from '../operator/context.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import { createBackendDirectory, nextBackendCall } from '../store/inventory/backends.ts';

const ASK_INTERVAL_MS = 1_000;

/** Adds the inventory's backends to the driver of this machine. */
export function withBackends(
  local: ComputeDriver,
  parts: Pick<Service, 'db' | 'keys' | 'log'>,
): RemoteCompute {
  const identity = async () => {
    const known = await readControlPlane(parts);
    if (known === null) throw new Error('the control plane has no certificate');
    return known;
  };
  return composeCompute({
    local,
    directory: createBackendDirectory(parts.db),
    log: parts.log,
    open: (backend) =>
      openHostDriver({
        backend,
        identity,
        nextCall: () => nextBackendCall(parts.db),
        capabilities: local.capabilities,
      }),
  });
}

/** Invites hosts. The code exists only in this process: when the command ends, it is worthless. */
export function createHostInviter(service: Pick<Service, 'db' | 'keys' | 'clock'>): HostInviter {
  return {
    create: async () => {
      const identity = await ensureControlPlane(service, () => createIdentity('skerry control plane'));
      const code = createCode();
      return {
        code,
        controlPlane: fingerprintOf(identity.certificate),
        waitForHost: async (address) => {
          const until = performance.now() + CODE_VALID_MS;
          while (performance.now() < until) {
            // Until the operator starts it there, nothing answers at the address.
            const fingerprint = await askToJoin(address, { identity, code }).catch(() => null);
            if (fingerprint !== null) return fingerprint;
            await pause(ASK_INTERVAL_MS);
          }
          throw new OperatorError('no host joined within 15 minutes: run the command again for a new code');
        },
      };
    },
  };
}
