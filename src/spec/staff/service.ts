/** The operations on the service, its records, and its staff. */
import { EVERYONE, manage, OWNER, read } from './roles.ts';

export const SERVICE_OPERATIONS = {
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
  'approval_rules.remove': manage('approvals remove-rule', 'Require no second person any more', OWNER),
  'staff_tokens.list': read('staff tokens list', 'List your API tokens'),
  'staff_tokens.create': manage('staff tokens create', 'Create an API token', EVERYONE),
  'staff_tokens.revoke': manage('staff tokens revoke', 'Revoke an API token', EVERYONE),
  'staff_log.list': read('staff log', 'List the acts of staff'),
} as const;
