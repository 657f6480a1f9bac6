/** Legal orders that are due soon or overdue, for `status`. */
import { formatId } from '../../../kernel/ids.ts';
import { DAY_MS, formatSessionTime } from '../../../kernel/time.ts';
import { LEGAL_LIMITS } from '../../../spec/staff/legal.ts';
import { listDueOrders } from '../../../store/staff/legal.ts';
import type { Service } from '../../context.ts';
import type { Finding } from '../../health/status.ts';

const SHOWN = 10;

/** Everyone on the staff reads them: they have no text of an order. */
export async function legalFindings({ db, clock }: Pick<Service, 'db' | 'clock'>): Promise<Finding[]> {
  const now = clock.now();
  const soon = new Date(now.getTime() + LEGAL_LIMITS.dueWarningDays * DAY_MS);
  return (await listDueOrders(db, soon, SHOWN)).flatMap(({ id, due_at: due }): Finding[] => {
    if (due === null) return [];
    const isOverdue = due < now;
    const message = `${formatId('legalOrder', id)} ${isOverdue ? 'was' : 'is'} due ${formatSessionTime(due)} UTC`;
    return [{ level: isOverdue ? 'fail' : 'warn', subject: 'legal orders', message }];
  });
}
