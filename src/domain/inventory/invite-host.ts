/** Invites a host on another machine without waiting for it: it joins later, or the code expires. */
import type { BackendCertificateRow } from '../../store/inventory/backends.ts';
import type { Service } from '../context.ts';
import { addInvitedHost, checkInvitation, type Invitation } from './remote-hosts.ts';

/** Lets a machine join as a host. */
export interface HostInviter {
  create(): Promise<{
    /** For one host, for 15 minutes, and while this process runs. */
    readonly code: string;
    /** Fingerprint of the control plane's authority. */
    readonly controlPlane: string;
    /**
     * Gives the host with the code its certificate, and returns it. Throws when the code is too old. In the
     * background, the wait keeps no process running.
     */
    waitForHost(
      host: { readonly name: string; readonly address: string },
      options?: { readonly isBackground?: boolean },
    ): Promise<BackendCertificateRow>;
  }>;
}

export interface InvitedHost {
  readonly code: string;
  readonly controlPlane: string;
}

/** Refuses as `checkInvitation` does. Servers may be placed on the host as soon as it joins. */
export async function inviteHost(
  service: Pick<Service, 'db' | 'clock' | 'compute' | 'log'>,
  inviter: HostInviter,
  host: Invitation,
): Promise<InvitedHost> {
  await checkInvitation(service, host);
  const { code, controlPlane, waitForHost } = await inviter.create();
  waitForHost(host, { isBackground: true })
    .then((certificate) => addInvitedHost(service, host, certificate))
    .catch((error: unknown) =>
      service.log.warn({ err: error, host: host.name }, 'invited host did not join'),
    );
  return { code, controlPlane };
}
