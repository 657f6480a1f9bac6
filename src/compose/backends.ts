/** Hosts on other machines: the composed compute driver, and the control plane's side of joining. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { findIso } from '../domain/images/distribute.ts';
import { ensureControlPlane } from '../domain/inventory/control-plane.ts';
import { describeCertificate, issueHostCertificate } from '../domain/inventory/host-certificates.ts';
import type { HostInviter } from '../domain/inventory/invite-host.ts';
import { composeCompute } from '../drivers/compute/composed/driver.ts';
import type { RemoteCompute } from '../drivers/compute/composed/link.ts';
import { openHostDriver } from '../drivers/compute/host/driver.ts';
import { askToJoin, CODE_VALID_MS, createCode } from '../drivers/compute/host/join.ts';
import { renewHostCertificate } from '../drivers/compute/host/renewal.ts';
import { checkRequest, fingerprintOf } from '../kernel/certificates.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { Fleet } from '../ports/backends.ts';
import type { ComputeDriver } from '../ports/compute.ts';
import { createBackendDirectory, nextBackendCall } from '../store/inventory/backends.ts';

const ASK_INTERVAL_MS = 1_000;

/** Adds the inventory's backends to the driver of this machine. */
export function withBackends(
  local: ComputeDriver,
  parts: Pick<Service, 'db' | 'keys' | 'log' | 'blobs'>,
): { readonly compute: RemoteCompute; readonly fleet: Fleet } {
  const credentials = async () => (await ensureControlPlane(parts)).credentials;
  const compute = composeCompute({
    local,
    directory: createBackendDirectory(parts.db),
    findIso: (sha256) => findIso(parts, sha256),
    log: parts.log,
    open: (backend) =>
      openHostDriver({
        backend,
        credentials,
        nextCall: () => nextBackendCall(parts.db),
        capabilities: local.capabilities,
      }),
  });
  const fleet: Fleet = {
    ...compute.questions,
    renew: async (backend, issue) => renewHostCertificate(backend, await credentials(), issue),
  };
  return { compute, fleet };
}

/** Invites hosts. The code exists only in this process: when the command ends, it is worthless. */
export function createHostInviter(
  service: Pick<Service, 'db' | 'keys'>,
  now = () => new Date(),
): HostInviter {
  return {
    create: async () => {
      const { authority, credentials } = await ensureControlPlane(service, now());
      const code = createCode();
      return {
        code,
        controlPlane: fingerprintOf(authority.certificate),
        waitForHost: async ({ name, address }, { isBackground = false } = {}) => {
          const identity = randomUUID();
          let isProven = false;
          const issue = async (request: string) => {
            isProven = true;
            await requireName(request, name);
            return await issueHostCertificate(authority, { name, identity, request }, now());
          };
          const until = performance.now() + CODE_VALID_MS;
          while (performance.now() < until) {
            const certificate = await askToJoin(address, { credentials, code }, issue).catch(
              (error: unknown) => {
                if (error instanceof OperatorError) throw error;
                // Until the operator starts the host there, nothing answers at the address.
                if (!isProven) return null;
                throw new OperatorError('the new machine did not take its certificate: invite it again');
              },
            );
            if (certificate !== null) return describeCertificate(identity, certificate);
            await pause(ASK_INTERVAL_MS, undefined, { ref: !isBackground });
          }
          throw new OperatorError('no host joined within 15 minutes: run the command again for a new code');
        },
      };
    },
  };
}

async function requireName(request: string, name: string): Promise<void> {
  const given = await checkRequest(request);
  if (given === name) return;
  throw new OperatorError(`the new machine joins under another name: invite it again, and join as ${name}`);
}
