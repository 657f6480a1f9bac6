/** Ends actions, in the transaction that ends their work. An action that has ended is left alone. */
import { formatCents } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { ACTION_ERRORS, ACTION_MONEY, type ActionErrorCode } from '../../spec/action-commands.ts';
import { type ActionEnd, endActions, listRunningActions } from '../../store/actions.ts';
import { recordEvent } from '../record.ts';
import { actionObject } from './object.ts';

export const SUCCESS: ActionEnd = { status: 'success', code: null, message: null };

/** How an action fails. `money`: what came back in cents, or that a payment stays valid; default: nothing. */
export function failure(code: ActionErrorCode, money: bigint | 'kept' = 0n): ActionEnd {
  return { status: 'error', code, message: `${ACTION_ERRORS[code]} ${describeMoney(money)}` };
}

function describeMoney(money: bigint | 'kept'): string {
  if (money === 'kept') return ACTION_MONEY.kept;
  return money > 0n ? `$${formatCents(money)} ${ACTION_MONEY.refunded}` : ACTION_MONEY.none;
}

export async function endEach(tx: Sql, ids: readonly string[], end: ActionEnd, now: Date): Promise<void> {
  if (ids.length === 0) return;
  for (const row of await endActions(tx, ids, { ...end, now })) {
    const type = end.status === 'success' ? 'action.success' : 'action.error';
    await recordEvent(tx, { customerId: row.customer_id, type, object: actionObject(row) }, now);
  }
}

/** Ends the action of an operation. Null: a previous version started it. */
export async function endAction(tx: Sql, id: string | null, end: ActionEnd, now: Date): Promise<void> {
  if (id !== null) await endEach(tx, [id], end, now);
}

/** Ends everything that runs on the resource. */
export async function endAllOf(tx: Sql, resourceId: string, end: ActionEnd, now: Date): Promise<void> {
  const running = await listRunningActions(tx, resourceId);
  await endEach(
    tx,
    running.map(({ id }) => id),
    end,
    now,
  );
}
