/** Billing pages: the overview, the ledger, receipts, and statements. */
import { type RedeemedCoupon, redeemCoupon } from '../../../domain/billing/coupons/redeem.ts';
import {
  findServerNames,
  getBalance,
  getLedgerEntry,
  listLedger,
  listTopupEntries,
} from '../../../domain/billing/ledger.ts';
import { getLedgerPeriod } from '../../../domain/billing/ledger-period.ts';
import { findSuspensionTime } from '../../../domain/billing/negative-balance.ts';
import { listRenewals } from '../../../domain/billing/renewals.ts';
import { findAccount } from '../../../domain/customers/read.ts';
import { getPayment, listInvoices } from '../../../domain/topups/payment.ts';
import { fail } from '../../../kernel/fail.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { billingView, RENEWAL_DAYS } from '../../../panel/money/billing.ts';
import { ledgerView, statementView } from '../../../panel/money/ledger.ts';
import { entryReceiptView, topupReceiptView } from '../../../panel/money/receipt.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { BILLING_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { hasContact } from '../assets.ts';
import { readList } from '../list.ts';
import { customForm, type PageContext, type PanelPage, page } from '../page-types.ts';
import { readKeptOrders } from '../servers/order-drafts.ts';

const LEDGER_ROWS = 50;
const STATEMENT_ROWS = 100;

async function showBilling(context: PageContext): Promise<View> {
  const { service } = context;
  const actor = context.customer();
  const requestedDays = Number(field(context.query, 'days'));
  const days = RENEWAL_DAYS.find((each) => each === requestedDays) ?? RENEWAL_DAYS[0];
  const [balance, suspendAt, renewals, orders, invoices] = await Promise.all([
    getBalance(service, actor),
    findSuspensionTime(service.db, service, actor),
    listRenewals(service, actor, { days }),
    readKeptOrders(context),
    readList(context, 'topups.list', (page) => listInvoices(service, actor, page), {
      preservedQuery: days === RENEWAL_DAYS[0] ? {} : { days: String(days) },
    }),
  ]);
  const { items, next, first } = invoices;
  return billingView({
    balance,
    hasContact: hasContact(context.edge),
    suspend_at: suspendAt && formatRfc3339(suspendAt),
    renewals: { days, ...renewals },
    orders,
    forms: context.forms,
    invoices: items,
    next,
    first,
  });
}

async function showLedger(context: PageContext): Promise<View> {
  const actor = context.customer();
  const { items, filter, next, first } = await readList(
    context,
    'ledger.list',
    (page) => listLedger(context.service, actor, page),
    { size: LEDGER_ROWS },
  );
  const names = await findServerNames(
    context.service,
    actor,
    items.map((entry) => entry.resource),
  );
  return ledgerView({ entries: items, names, type: filter.type ?? '', next, first, forms: context.forms });
}

/** The issuer and the recipient of a receipt. */
async function receiptParties(
  context: PageContext,
): Promise<{ readonly site: string; readonly email: string }> {
  const account = await findAccount(context.service, context.customer().customerId);
  return { site: context.edge.service.settings.siteName, email: account?.email ?? fail('auth_required') };
}

async function showReceipt(context: PageContext<{ readonly id: string }>): Promise<View> {
  const { id } = context.params;
  const parties = await receiptParties(context);
  const actor = context.customer();
  if (!id.startsWith('top_')) {
    const entry = await getLedgerEntry(context.service, actor, id);
    const names = await findServerNames(context.service, actor, [entry.resource]);
    return entryReceiptView({ ...parties, entry, names });
  }
  const payment = await getPayment(context.service, actor, id);
  // A top-up has a receipt only once it is credited.
  if (payment.topup.credited_usd <= 0) fail('not_found');
  return topupReceiptView({
    ...parties,
    topup: payment.topup,
    bonus_paid_usd: payment.bonus_paid_usd,
    parts: payment.parts.filter((part) => part.credited_usd !== null),
    entries: await listTopupEntries(context.service, actor, id),
  });
}

async function showStatement(context: PageContext): Promise<View> {
  const { service } = context;
  const actor = context.customer();
  const now = service.clock.now();
  const month = parseMonth(field(context.query, 'month')) ?? startOfMonth(now);
  const end = addMonths(month, 1);
  const monthKey = (date: Date) => date.toISOString().slice(0, 7);
  const [parties, span, list] = await Promise.all([
    receiptParties(context),
    getLedgerPeriod(service, actor, { from: month, to: end }),
    readList(context, 'ledger.list', (page) => listLedger(service, actor, page), {
      size: STATEMENT_ROWS,
      preservedQuery: { month: monthKey(month) },
      // A statement lists every type of entry, oldest first.
      fixed: { filter: { from: month.toISOString(), to: end.toISOString() }, sort: 'created_at' },
    }),
  ]);
  const names = await findServerNames(
    service,
    actor,
    list.items.map((entry) => entry.resource),
  );
  const path = (of: Date) => `${BILLING_PATHS.statement}?month=${monthKey(of)}`;
  return statementView({
    ...parties,
    ...span,
    name: formatMonth(month),
    entries: list.items,
    names,
    previousPath: path(addMonths(month, -1)),
    nextMonthPath: end > now ? null : path(end),
    isCurrent: end > now,
    next: list.next,
    first: list.first,
  });
}

const redeemForm = customForm<RedeemedCoupon>({
  audit: 'coupon.redeem',
  limitedBy: 'failures',
  guess: { secret: 'coupon' },
  run: async ({ edge, form, customer }) => redeemCoupon(edge.service, customer(), field(form, 'code')),
  done: () => ({ to: PANEL_PATHS.billing, notice: 'coupon_redeemed' }),
});

export const BILLING_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.billing,
    access: 'customer',
    readOperations: ['balance.get', 'topups.list'],
    render: showBilling,
    forms: { redeem: redeemForm },
  },
  { path: BILLING_PATHS.ledger, access: 'customer', readOperations: ['ledger.list'], render: showLedger },
  page({ path: `${BILLING_PATHS.receipts}/{id}`, access: 'customer', render: showReceipt }),
  {
    path: BILLING_PATHS.statement,
    access: 'customer',
    readOperations: ['ledger.list'],
    render: showStatement,
  },
];

/**
 * Returns the first moment of a month such as `2026-11`, in UTC, or undefined if the text does not name one.
 */
function parseMonth(text: string): Date | undefined {
  if (!/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text)) return undefined;
  return new Date(`${text}-01T00:00:00Z`);
}

function startOfMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** `first` is the first moment of a month. */
function addMonths(first: Date, months: number): Date {
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months));
}

/** `November 2026`. */
function formatMonth(first: Date): string {
  return first.toLocaleString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}
