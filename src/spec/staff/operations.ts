/**
 * Everything that staff can do. The console, the endpoints under /admin/v1, and the commands of `skerryd`
 * offer the same operations.
 */
import { CUSTOMER_OPERATIONS } from './customers.ts';
import { MACHINE_OPERATIONS, SERVER_OPERATIONS } from './machines.ts';
import { MONEY_OPERATIONS } from './money.ts';
import type { StaffOperationRow, StaffRole } from './roles.ts';
import { SERVICE_OPERATIONS } from './service.ts';

export const STAFF_OPERATIONS = {
  ...CUSTOMER_OPERATIONS,
  ...SERVER_OPERATIONS,
  ...MACHINE_OPERATIONS,
  ...MONEY_OPERATIONS,
  ...SERVICE_OPERATIONS,
} as const satisfies Readonly<Record<string, StaffOperationRow>>;

export type StaffOperation = keyof typeof STAFF_OPERATIONS;

export const STAFF_OPERATION_IDS = Object.keys(STAFF_OPERATIONS) as StaffOperation[];

/** What people change about their own account: in the console only, with what they know and have. */
export const STAFF_ACCOUNT_ACTS = [
  'staff_account.change_password',
  'staff_account.add_passkey',
  'staff_account.remove_passkey',
] as const;
export type StaffAccountAct = (typeof STAFF_ACCOUNT_ACTS)[number];

export function mayPerform(role: StaffRole, operation: StaffOperation): boolean {
  return (STAFF_OPERATIONS[operation].roles as readonly StaffRole[]).includes(role);
}
