/** The people who run the service, and how the tables of their operations are written. */

/** From the most powerful to the least. */
export const STAFF_ROLES = ['owner', 'finance', 'support', 'technician', 'read_only'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

export const ROLE_NAMES: Readonly<Record<StaffRole, string>> = {
  owner: 'Owner',
  finance: 'Finance',
  support: 'Support',
  technician: 'Technician',
  read_only: 'Read-only',
};

export interface StaffOperationRow {
  readonly summary: string;
  readonly roles: readonly StaffRole[];
  /** Changes something. Every such act is in the staff log. */
  readonly changes: boolean;
  /** Money, data, or a customer's machine: the person says why. */
  readonly needsReason: boolean;
  /** The words of the command after `skerryd`. */
  readonly command: string;
}

/** Of an act that waits for a second person. */
export const APPROVAL_STATES = ['open', 'approved', 'done', 'failed', 'refused', 'withdrawn'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

export const EVERYONE = STAFF_ROLES;
export const MONEY = ['owner', 'finance'] as const;
export const CUSTOMERS = ['owner', 'finance', 'support'] as const;
export const MACHINES = ['owner', 'support', 'technician'] as const;
/** The machines of the host itself. */
export const HOSTS = ['owner', 'technician'] as const;
export const OWNER = ['owner'] as const;

export function read(
  command: string,
  summary: string,
  roles: readonly StaffRole[] = EVERYONE,
): StaffOperationRow {
  return { summary, roles, changes: false, needsReason: false, command };
}

/** An act that touches money, data, or a customer's machine. */
export function act(command: string, summary: string, roles: readonly StaffRole[]): StaffOperationRow {
  return { summary, roles, changes: true, needsReason: true, command };
}

/** An act that needs no explanation. */
export function manage(command: string, summary: string, roles: readonly StaffRole[]): StaffOperationRow {
  return { summary, roles, changes: true, needsReason: false, command };
}

export const STAFF_LIMITS = {
  inviteHours: 48,
  sessionIdleMinutes: 60,
  sessionMaxHours: 12,
  sessionsMax: 10,
  tokensMax: 20,
  passkeysMax: 10,
  tokenMaxDays: 365,
  /** Failed sign-ins per hour: of one person from one address, of one address, and of one person. */
  failuresPerHour: 10,
  addressFailuresPerHour: 30,
  personFailuresPerHour: 100,
  reasonMaxChars: 500,
  nameMaxChars: 80,
  /** Requests of one person that wait for another, and for how long. */
  approvalsMax: 50,
  approvalHours: 72,
  /** Their input is kept for as long after the decision, or after they expired. */
  approvalInputDays: 90,
  logRetentionDays: 1_095,
  pageSize: 50,
} as const;
