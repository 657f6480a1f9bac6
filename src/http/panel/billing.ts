/** Billing: the overview, the ledger, receipts and statements. */
import { getBalance } from '../../domain/billing/balance.ts';
import { getLedgerEntry, listLedger, listTopupEntries } from '../../domain/billing/ledger.ts';
import { namesOfServers } from '../../domain/billing/names.ts';
import { listRenewals } from '../../domain/billing/renewals.ts';
import { getSpan } from '../../domain/billing/span.ts';
import { findAccount } from '../../domain/customers/account.ts';
import { getPayment, listInvoices } from '../../domain/topups/payment.ts';
import { fail } from '../../kernel/fail.ts';
import { billingView, RENEWAL_DAYS } from '../../panel/billing.ts';
import type { View } from '../../panel/layout.ts';
import { ledgerView, statementView } from '../../panel/ledger.ts';
import { entryReceiptView, topupReceiptView } from '../../panel/receipt.ts';
import { MONEY_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { field } from '../form.ts';
import { readList } from './list.ts';
import { addMonth, firstOf, monthName, monthOf } from './months.ts';
import type { Look, PanelPage } from './page.ts';

const LEDGER_ROWS = 50;
const STATEMENT_ROWS = 100;

async function showBilling(look: Look): Promise<View> {
  const { service } = look;
  const actor = look.customer();
  const asked = Number(field(look.query, 'days'));
  const days = RENEWAL_DAYS.find((each) => each === asked) ?? RENEWAL_DAYS[0];
  const [balance, renewals, invoices] = await Promise.all([
    getBalance(service, actor),
    listRenewals(service, actor, { days }),
    readList(look, 'topups.list', (page) => listInvoices(service, actor, page), {
      kept: days === RENEWAL_DAYS[0] ? {} : { days: String(days) },
    }),
  ]);
  const { items, next, first } = invoices;
  return billingView({ balance, renewals: { days, ...renewals }, invoices: items, next, first });
}

async function showLedger(look: Look): Promise<View> {
  const actor = look.customer();
  const { items, filter, next, first } = await readList(
    look,
    'ledger.list',
    (page) => listLedger(look.service, actor, page),
    { size: LEDGER_ROWS },
  );
  const names = await namesOfServers(
    look.service,
    actor,
    items.map((entry) => entry.resource),
  );
  return ledgerView({ entries: items, names, type: filter.type ?? '', next, first, forms: look.forms });
}

/** The name of the one who issues it, and of the one it is for. */
async function partiesOf(look: Look): Promise<{ readonly site: string; readonly email: string }> {
  const account = await findAccount(look.service, look.customer().customerId);
  return { site: look.edge.service.settings.siteName, email: account?.email ?? fail('auth_required') };
}

async function showReceipt(look: Look): Promise<View> {
  const { id = '' } = look.params;
  const parties = await partiesOf(look);
  const actor = look.customer();
  if (!id.startsWith('top_')) {
    const entry = await getLedgerEntry(look.service, actor, id);
    const names = await namesOfServers(look.service, actor, [entry.resource]);
    return entryReceiptView({ ...parties, entry, names });
  }
  const payment = await getPayment(look.service, actor, id);
  // What was not credited has no receipt.
  if (payment.topup.credited_usd <= 0) fail('not_found');
  return topupReceiptView({
    ...parties,
    topup: payment.topup,
    bonus_paid_usd: payment.bonus_paid_usd,
    parts: payment.parts.filter((part) => part.credited_usd !== null),
    entries: await listTopupEntries(look.service, actor, id),
  });
}

async function showStatement(look: Look): Promise<View> {
  const { service } = look;
  const actor = look.customer();
  const now = service.clock.now();
  const month = monthOf(field(look.query, 'month')) ?? firstOf(now);
  const end = addMonth(month, 1);
  const nameOf = (of: Date) => of.toISOString().slice(0, 7);
  const [parties, span, list] = await Promise.all([
    partiesOf(look),
    getSpan(service, actor, { from: month, to: end }),
    readList(look, 'ledger.list', (page) => listLedger(service, actor, page), {
      size: STATEMENT_ROWS,
      kept: { month: nameOf(month) },
      // A statement is read from its begin, and is of all kinds.
      fixed: { filter: { from: month.toISOString(), to: end.toISOString() }, sort: 'created_at' },
    }),
  ]);
  const names = await namesOfServers(
    service,
    actor,
    list.items.map((entry) => entry.resource),
  );
  const path = (of: Date) => `${MONEY_PATHS.statement}?month=${nameOf(of)}`;
  return statementView({
    ...parties,
    ...span,
    name: monthName(month),
    entries: list.items,
    names,
    earlier: path(addMonth(month, -1)),
    later: end > now ? null : path(end),
    open: end > now,
    next: list.next,
    first: list.first,
  });
}

export const BILLING_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.billing,
    access: 'customer',
    shows: ['balance.get', 'topups.list'],
    show: showBilling,
  },
  { path: MONEY_PATHS.ledger, access: 'customer', shows: ['ledger.list'], show: showLedger },
  { path: `${MONEY_PATHS.receipts}/{id}`, access: 'customer', show: showReceipt },
  { path: MONEY_PATHS.statement, access: 'customer', shows: ['ledger.list'], show: showStatement },
];
