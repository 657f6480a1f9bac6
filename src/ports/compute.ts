/**
 * The compute port: what Skerry asks of the thing that runs machines. Every verb says *ensure*: it may be called
 * again after a crash, with the same result. A call that was given up may still act later, so a driver carries out
 * the calls for one machine in the order they came. A driver never decides anything about money or customers.
 */
import type { Ipv4Assignment, Ipv6Assignment } from './network.ts';

/** The machine as it should be. `id` is the server's id; the driver keeps it as the machine's name. */
export interface MachineSpec {
  readonly id: string;
  /** The host that must carry it, by the name the operator gave it. */
  readonly host: string;
  readonly hostname: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly image: {
    readonly id: string;
    readonly family: string;
    readonly version: string;
    readonly cloudInit: boolean;
  };
  readonly ipv4: Ipv4Assignment;
  readonly ipv6: Ipv6Assignment;
  /** OpenSSH public keys. */
  readonly sshKeys: readonly string[];
  /** crypt(3) hash of the root password, or null when only keys may sign in. */
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
}

export type PowerAction = 'on' | 'off' | 'acpi' | 'reset';

/** What the driver sees. `absent`: the host answers and has no such machine; `unknown`: its host does not answer. */
export interface MachineState {
  readonly id: string;
  readonly state: 'absent' | 'unknown' | 'installing' | 'running' | 'stopped';
  readonly host: string | null;
}

/** Why a call failed: `host` may be cured by another host, `transient` by trying again, `refused` by neither. */
export type ComputeFault = 'host' | 'transient' | 'refused';

export class ComputeError extends Error {
  readonly fault: ComputeFault;
  constructor(fault: ComputeFault, message: string) {
    super(message);
    this.name = 'ComputeError';
    this.fault = fault;
  }
}

export interface ComputeDriver {
  readonly name: string;
  /** Makes the machine exist on its host and begin its install. The same id twice is one machine. */
  ensure(spec: MachineSpec): Promise<void>;
  /** Makes the machine and its disk not exist, on whichever host it is. An absent one is fine. */
  remove(id: string): Promise<void>;
  power(id: string, action: PowerAction): Promise<void>;
  /** The state of each asked machine, in the order asked. */
  observe(ids: readonly string[]): Promise<MachineState[]>;
}
