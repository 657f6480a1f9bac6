/**
 * Everything that staff can do. The console, the endpoints under /admin/v1, and the commands of `skerryd`
 * offer the same operations.
 */
import { ABUSE_OPERATIONS } from './abuse.ts';
import { CATALOGUE_OPERATIONS } from './catalogue.ts';
import { COUPON_OPERATIONS } from './coupons.ts';
import { CUSTOMER_OPERATIONS } from './customers.ts';
import { DESK_OPERATIONS } from './desk.ts';
import { FLOOD_OPERATIONS } from './floods.ts';
import { LEGAL_OPERATIONS } from './legal.ts';
import { MACHINE_OPERATIONS, SERVER_OPERATIONS } from './machines.ts';
import {
  act,
  EVERYONE,
  HOSTS,
  MACHINES,
  MONEY,
  manage,
  OWNER,
  read,
  type StaffOperationRow,
  type StaffRole,
} from './roles.ts';
import { TALKING_OPERATIONS } from './talking.ts';
import { WORK_OPERATIONS } from './work.ts';

export const STAFF_OPERATIONS = {
  ...CUSTOMER_OPERATIONS,
  ...SERVER_OPERATIONS,
  ...WORK_OPERATIONS,
  ...MACHINE_OPERATIONS,
  'topups.list': read('topups list', 'List top-ups'),
  'topups.get': read('topups show', 'Show a top-up and its payments'),
  'topups.release': act('topups release', 'Credit the withheld payments of a top-up', MONEY),
  'topups.refund': act('topups refund', 'Approve a refund of the withheld payments of a top-up', MONEY),
  'topups.mark_refunded': act('topups refund', 'Record the transaction of a refund', MONEY),
  'deposits.list': read('deposits list', 'List the payments of all customers'),
  ...COUPON_OPERATIONS,
  'coins.list': read('chain list', 'List coins with their rates, chains, and addresses'),
  'coins.get': read('chain show', 'Show a coin'),
  'coins.reread': act('chain reread', 'Read the blocks of a coin again', MONEY),
  'coins.skip_addresses': act('chain skip', 'Never give out the next addresses of a coin', MONEY),
  'coins.import_addresses': act('chain import', 'Import addresses of a coin', MONEY),
  'coins.recover': act('recover', 'Raise the numbers of a restored database', OWNER),
  'nodes.check': read('chain doctor', 'Check every node'),
  'paid_addresses.list': read('chain paid', 'List the addresses of a coin that received payments'),
  ...CATALOGUE_OPERATIONS,
  ...DESK_OPERATIONS,
  ...ABUSE_OPERATIONS,
  ...FLOOD_OPERATIONS,
  'incidents.list': read('incidents list', 'List incidents and planned maintenance'),
  'incidents.get': read('incidents show', 'Show an incident with its updates'),
  'incidents.create': manage('incidents create', 'Publish an incident', MACHINES),
  'incidents.announce': manage('incidents create', 'Announce planned maintenance', MACHINES),
  'incidents.update': manage('incidents update', 'Publish an update of an incident', MACHINES),
  'incidents.resolve': manage('incidents resolve', 'End an incident, or cancel maintenance', MACHINES),
  ...TALKING_OPERATIONS,
  'maintenance.list': read('maintenance list', 'List the open maintenance windows'),
  'maintenance.get': read('maintenance list', 'Show an open maintenance window'),
  'maintenance.start': act('maintenance start', 'Refuse requests for a limited time', HOSTS),
  'maintenance.end_one': act('maintenance end', 'End a maintenance window', HOSTS),
  'maintenance.end': act('maintenance end', 'End all maintenance windows', HOSTS),
  'policies.list': read('policy list', 'List policies'),
  'policies.get': read('policy list', 'Show a policy'),
  'policies.block': act('policy block', 'Refuse an operation because of a legal order', OWNER),
  'policies.unblock': act('policy unblock', 'Delete a policy', OWNER),
  ...LEGAL_OPERATIONS,
  'switches.list': read('switch', 'List switches'),
  'switches.get': read('switch', 'Show a switch'),
  'switches.set': act('switch', 'Turn a switch on or off', OWNER),
  'figures.get': read('figures', 'Show sales, revenue, and balances over time'),
  'capacity.get': read('capacity', 'Show what each region has left'),
  'status.get': read('status', 'Show what is stuck, failing, or about to'),
  'audit.list': read('audit', 'List the audit log of all customers'),
  'staff.list': read('staff list', 'List staff'),
  'staff.get': read('staff show', 'Show a person'),
  'staff.invite': manage('staff invite', 'Invite a person', OWNER),
  'staff.set_role': manage('staff role', 'Change the role of a person', OWNER),
  'staff.disable': manage('staff disable', 'End the access of a person', OWNER),
  'staff.end_sessions': manage('staff end-sessions', 'End the sessions and API tokens of a person', OWNER),
  'approvals.list': read('approvals list', 'List acts that wait for a second person'),
  'approvals.get': read('approvals show', 'Show an act that waits for a second person'),
  'approvals.approve': manage('approvals approve', 'Approve an act of another person', EVERYONE),
  'approvals.refuse': manage('approvals refuse', 'Refuse an act, or withdraw your own', EVERYONE),
  'approval_rules.list': read('approvals rules', 'List the operations that need a second person'),
  'approval_rules.get': read('approvals rule', 'Show whether an operation needs a second person'),
  'approval_rules.set': manage('approvals set-rule', 'Require a second person for an operation', OWNER),
  'approval_rules.remove': manage('approvals remove-rule', 'Remove the rule of an operation', OWNER),
  'staff_tokens.list': read('staff tokens list', 'List your API tokens'),
  'staff_tokens.create': manage('staff tokens create', 'Create an API token', EVERYONE),
  'staff_tokens.revoke': manage('staff tokens revoke', 'Revoke an API token', EVERYONE),
  'staff_log.list': read('staff log', 'List the acts of staff'),
} as const satisfies Readonly<Record<string, StaffOperationRow>>;

export type StaffOperation = keyof typeof STAFF_OPERATIONS;

export const STAFF_OPERATION_IDS = Object.keys(STAFF_OPERATIONS) as StaffOperation[];

/** The changes that people make to their own account: in the console only, with what they know and have. */
export const STAFF_ACCOUNT_ACTS = [
  'staff_account.change_password',
  'staff_account.add_passkey',
  'staff_account.remove_passkey',
] as const;
export type StaffAccountAct = (typeof STAFF_ACCOUNT_ACTS)[number];

export function mayPerform(role: StaffRole, operation: StaffOperation): boolean {
  return (STAFF_OPERATIONS[operation].roles as readonly StaffRole[]).includes(role);
}
