/** The person behind a request of the console or of /admin/v1. */
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { StaffRole } from '../../spec/staff/roles.ts';
import type { StaffSurface } from '../../store/staff/log.ts';

export interface StaffIdentity {
  readonly staffId: string;
  readonly email: string;
  readonly name: string;
  /** Of this session or token. */
  readonly role: StaffRole;
  readonly sessionId: string | null;
  readonly tokenId: string | null;
}

export interface StaffActor extends StaffIdentity {
  readonly surface: StaffSurface;
  /** `req_…`, as in X-Request-Id. */
  readonly requestId: string;
}

/** An act that is about to begin. */
export interface StaffAct {
  readonly operation: StaffOperation;
  /** The public id or name of its target. */
  readonly target: string | null;
  /** As typed; undefined: none was given. */
  readonly reason: string | undefined;
  /** The input without the reason and without secrets. */
  readonly details: object;
  /** Tells a repeated request from a new one. */
  readonly submission: string | null;
}
