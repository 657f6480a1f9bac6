/** The balance, its ledger, and top-ups. */
import { getBalance, listLedger } from '../../../domain/billing/ledger.ts';
import { orderTopup } from '../../../domain/topups/create.ts';
import { getTopup, listTopups } from '../../../domain/topups/read.ts';
import { COIN_CODES } from '../../../spec/coins.ts';
import { BY_AGE } from '../../../spec/lists.ts';
import { Balance, LEDGER_TYPES, LedgerEntry } from '../../../spec/schemas/balance.ts';
import { CreateTopup, Topup } from '../../../spec/schemas/topup.ts';
import { TOPUP_STATUSES } from '../../../spec/states.ts';
import { listRoute, type Route, route } from '../route.ts';

export const BILLING_ROUTES: readonly Route[] = [
  route({
    id: 'balance.get',
    method: 'GET',
    path: '/billing/balance',
    scope: 'billing',
    summary: 'Retrieve the balance',
    reply: Balance,
    run: ({ service, actor }) => getBalance(service, actor),
  }),
  listRoute({
    id: 'ledger.list',
    path: '/billing/ledger',
    scope: 'billing',
    summary: 'List ledger entries',
    list: { filters: { type: { allowed: LEDGER_TYPES } }, ...BY_AGE },
    reply: LedgerEntry,
    run: ({ service, actor, page }) => listLedger(service, actor, page),
  }),
  route({
    id: 'topups.create',
    method: 'POST',
    path: '/billing/topup',
    scope: 'billing',
    summary: 'Create a top-up',
    description:
      'Locks the exchange rate until `expires_at` and returns a deposit address. Send `deposit_amount` to ' +
      '`deposit_address` on `network`.',
    status: 201,
    errorStatuses: [422],
    audit: 'topup.create',
    body: CreateTopup,
    example: { coin: 'XMR', amount_usd: 100 },
    reply: Topup,
    run: ({ service, actor, body }) => orderTopup(service, actor, body),
  }),
  route({
    id: 'topups.get',
    method: 'GET',
    path: '/billing/topup/{id}',
    scope: 'billing',
    summary: 'Retrieve a top-up',
    reply: Topup,
    run: ({ service, actor, params }) => getTopup(service, actor, params.id),
  }),
  listRoute({
    id: 'topups.list',
    path: '/billing/topup',
    scope: 'billing',
    summary: 'List top-ups',
    list: { filters: { status: { allowed: TOPUP_STATUSES }, coin: { allowed: COIN_CODES } }, ...BY_AGE },
    reply: Topup,
    run: ({ service, actor, page }) => listTopups(service, actor, page),
  }),
];
