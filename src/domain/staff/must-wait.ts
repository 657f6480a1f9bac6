/** Whether an act needs a second person: the rules, and the amounts that they compare. */
import { firstIdAt } from '../../kernel/ids.ts';
import { parseUnits } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { countActiveOwners, listApprovalRules } from '../../store/staff/approvals.ts';
import { type GivenRow, listGiven } from '../../store/staff/log.ts';

/** With a rule in force, these wait as well. Otherwise one person could end it, or invite an accomplice. */
const GUARDED: readonly StaffOperation[] = [
  'approval_rules.set',
  'approval_rules.remove',
  'staff.invite',
  'staff.set_role',
  'staff.disable',
];

/** A rule of the one also applies to the other: both have the same effect. */
const SAME_RULE: { readonly [Operation in StaffOperation]?: StaffOperation } = {
  'coupons.create': 'customers.credit',
  'maintenance.end_one': 'maintenance.end',
  'abuse_reports.suspend': 'servers.freeze',
  'abuse_reports.block_mail': 'servers.set_mail',
  'floods.blackhole': 'servers.blackhole',
  'floods.lift': 'servers.lift_blackhole',
  'work.retry': 'operations.retry',
  'work.give_up': 'operations.give_up',
};

/** Several small ones are compared like a large one. */
const GIVING: readonly StaffOperation[] = ['customers.credit', 'coupons.create'];

export interface WaitingAct {
  readonly operation: StaffOperation;
  readonly staffId: string;
  /** A public id, or null. */
  readonly target: string | null;
  /** Its own entry in the staff log, which was written before. */
  readonly entryId: string;
  /** US dollars as text, if the act has any. Read only if a rule compares it. */
  readonly amount: () => Promise<unknown>;
  readonly now: Date;
}

export async function mustWait(db: Sql, act: WaitingAct): Promise<boolean> {
  const { operation } = act;
  const rules = await listApprovalRules(db);
  if (rules.length === 0) return false;
  const ruleOf = (name: StaffOperation | undefined) => rules.find((row) => row.operation === name);
  const findRule = (name: StaffOperation) => ruleOf(name) ?? ruleOf(SAME_RULE[name]);
  const rule = findRule(operation);
  // A single owner has no one to ask.
  if (!rule) return GUARDED.includes(operation) && (await countActiveOwners(db)) > 1;
  if (rule.over_cents === null) return true;
  const cents = parseUnits(String(await act.amount()), 2);
  if (cents === undefined) return true;
  if (!GIVING.includes(operation)) return cents > rule.over_cents;
  const operations = GIVING.filter((name) => findRule(name) === rule);
  return cents + (await sumGiven(db, act, operations)) > rule.over_cents;
}

/** The cents that the person gave in the last 24 hours to the customer. Any customer can use a coupon. */
async function sumGiven(
  db: Sql,
  { staffId, target, entryId, now }: WaitingAct,
  operations: readonly StaffOperation[],
): Promise<bigint> {
  const sinceId = firstIdAt(new Date(now.getTime() - DAY_MS));
  const rows = await listGiven(db, { staffId, operations, sinceId, exceptId: entryId });
  const coupons = rows.filter((row) => row.target === null);
  const customers = target === null ? new Set(rows.map((row) => row.target)) : [target];
  const credited = [...customers].map((customer) =>
    customer === null ? 0n : sum(rows.filter((row) => row.target === customer)),
  );
  return sum(coupons) + credited.reduce((most, cents) => (cents > most ? cents : most), 0n);
}

function sum(rows: readonly GivenRow[]): bigint {
  return rows.reduce((total, { amount, uses }) => {
    const cents = parseUnits(amount ?? '', 2) ?? 0n;
    return total + cents * (/^\d{1,9}$/.test(uses ?? '') ? BigInt(uses ?? '') : 1n);
  }, 0n);
}
