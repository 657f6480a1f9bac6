/** What a simulated machine is: its state at a moment, and what its install put on its disk. */
import { createHash } from 'node:crypto';
import type { MachineSpec, MachineState } from '../../../ports/compute.ts';

/** One row of `sim.machines`, as far as its state goes. */
export interface MachineTimes {
  readonly install_ends_at: Date;
  readonly off_at: Date | null;
}

export type PresentState = Exclude<MachineState['state'], 'absent'>;

/** The state is never stored: it is read off the times, so no timer can be lost with its process. */
export function stateAt(times: MachineTimes, now: Date): PresentState {
  if (times.off_at && times.off_at <= now) return 'stopped';
  return times.install_ends_at > now ? 'installing' : 'running';
}

/** What was installed. Secrets are kept as SHA-256 only (hex), enough to prove that they were handed over. */
export type Installed = Pick<MachineSpec, 'hostname' | 'image' | 'ipv4' | 'ipv6' | 'sshKeys'> & {
  readonly rootPasswordHashSha256: string | null;
  readonly userDataSha256: string | null;
};

/** Names each field, so that a secret the port gains later is not stored by accident. */
export function installedFrom(spec: MachineSpec): Installed {
  return {
    hostname: spec.hostname,
    image: spec.image,
    ipv4: spec.ipv4,
    ipv6: spec.ipv6,
    sshKeys: spec.sshKeys,
    rootPasswordHashSha256: sha256(spec.rootPasswordHash),
    userDataSha256: sha256(spec.userData),
  };
}

function sha256(secret: string | Uint8Array | null): string | null {
  return secret === null ? null : createHash('sha256').update(secret).digest('hex');
}
