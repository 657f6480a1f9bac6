/**
 * The people who run the service, and everything they can do. The console, the endpoints under /admin/v1, and
 * the commands of `skerryd` offer the same operations.
 */

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

interface StaffOperationRow {
  readonly summary: string;
  readonly roles: readonly StaffRole[];
  /** Changes something. Every such act is in the staff log. */
  readonly changes: boolean;
  /** Money, data, or a customer's machine: the person says why. */
  readonly needsReason: boolean;
  /** The words of the command after `skerryd`. */
  readonly command: string;
}

const EVERYONE = STAFF_ROLES;
const MONEY = ['owner', 'finance'] as const;
const CUSTOMERS = ['owner', 'finance', 'support'] as const;
const MACHINES = ['owner', 'support', 'technician'] as const;
const OWNER = ['owner'] as const;

function read(command: string, summary: string, roles: readonly StaffRole[] = EVERYONE): StaffOperationRow {
  return { summary, roles, changes: false, needsReason: false, command };
}

/** An act that touches money, data, or a customer's machine. */
function act(command: string, summary: string, roles: readonly StaffRole[]): StaffOperationRow {
  return { summary, roles, changes: true, needsReason: true, command };
}

/** An act on the console itself. */
function manage(command: string, summary: string, roles: readonly StaffRole[]): StaffOperationRow {
  return { summary, roles, changes: true, needsReason: false, command };
}

export const STAFF_OPERATIONS = {
  'status.get': read('status', 'Show what is stuck, failing, or about to'),
  'customers.list': read('customers list', 'List and search customers'),
  'customers.get': read('customers show', 'Show a customer'),
  'customers.freeze': act('customers freeze', 'Make an account read-only', CUSTOMERS),
  'customers.unfreeze': act('customers unfreeze', 'Lift the freeze of an account', CUSTOMERS),
  'customers.credit': act('credit', 'Add to the balance of a customer', MONEY),
  'customers.disable_totp': act('customers totp-off', 'Turn off one-time codes of a customer', CUSTOMERS),
  'servers.list': read('servers list', 'List servers'),
  'servers.get': read('servers show', 'Show a server'),
  'servers.freeze': act('servers freeze', 'Power off a server and make it read-only', MACHINES),
  'servers.hold': act('servers hold', 'Preserve a server and its disk for a legal order', OWNER),
  'servers.release': act('servers release', 'Lift the freeze of a server', MACHINES),
  'servers.release_hold': act('servers release', 'Lift the legal hold of a server', OWNER),
  'servers.set_mail': act('servers mail', 'Allow or block outbound SMTP of a server', MACHINES),
  'topups.list': read('topups list', 'List top-ups'),
  'topups.get': read('topups show', 'Show a top-up and its payments'),
  'topups.release': act('topups release', 'Credit the withheld payments of a top-up', MONEY),
  'audit.list': read('audit', 'List the audit log of all customers'),
  'staff.list': read('staff list', 'List staff'),
  'staff.get': read('staff show', 'Show a person'),
  'staff.invite': manage('staff invite', 'Invite a person', OWNER),
  'staff.set_role': manage('staff role', 'Change the role of a person', OWNER),
  'staff.disable': manage('staff disable', 'End the access of a person', OWNER),
  'staff.end_sessions': manage('staff end-sessions', 'End the sessions and API tokens of a person', OWNER),
  'staff_tokens.list': read('staff tokens list', 'List your API tokens'),
  'staff_tokens.create': manage('staff tokens create', 'Create an API token', EVERYONE),
  'staff_tokens.revoke': manage('staff tokens revoke', 'Revoke an API token', EVERYONE),
  'staff_log.list': read('staff log', 'List the acts of staff'),
} as const satisfies Readonly<Record<string, StaffOperationRow>>;

export type StaffOperation = keyof typeof STAFF_OPERATIONS;

export const STAFF_OPERATION_IDS = Object.keys(STAFF_OPERATIONS) as StaffOperation[];

export function mayPerform(role: StaffRole, operation: StaffOperation): boolean {
  return (STAFF_OPERATIONS[operation].roles as readonly StaffRole[]).includes(role);
}

export const STAFF_LIMITS = {
  inviteHours: 48,
  sessionIdleMinutes: 60,
  sessionMaxHours: 12,
  sessionsMax: 10,
  tokensMax: 20,
  tokenMaxDays: 365,
  /** Failed sign-ins per hour: of one person from one address, of one address, and of one person. */
  failuresPerHour: 10,
  addressFailuresPerHour: 30,
  personFailuresPerHour: 100,
  reasonMaxChars: 500,
  nameMaxChars: 80,
  membersMax: 500,
  logRetentionDays: 1_095,
  pageSize: 50,
} as const;
