import { Type } from 'typebox';
import { deleteCustomer } from '../../../domain/customers/deletion/start.ts';
import { openExport } from '../../../domain/customers/export.ts';
import { listCustomersForOperator, readCustomerForOperator } from '../../../domain/customers/find.ts';
import { creditCustomer, debitCustomer, freezeCustomer } from '../../../domain/customers/operator.ts';
import { readLedgerForOperator } from '../../../domain/customers/staff/ledger.ts';
import { viewAccount } from '../../../domain/customers/staff/view.ts';
import { disableTotpByOperator } from '../../../domain/customers/totp.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, LIMIT, listOf, ONE_LINE, pageSize } from './lists.ts';

function freezing(id: 'customers.freeze' | 'customers.unfreeze', path: string, frozen: boolean): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    run: async ({ service, params }) => {
      const { id: customer } = params as { readonly id: string };
      const changed = await freezeCustomer(service, customer, frozen);
      return { ...(await readCustomerForOperator(service, customer)), changed };
    },
  });
}

function adjusting(
  id: 'customers.credit' | 'customers.debit',
  path: string,
  adjust: typeof creditCustomer,
): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    status: 201,
    body: Type.Object(
      {
        amount_usd: Type.String({
          title: 'Amount in US dollars',
          maxLength: 20,
          description: 'Such as 25.50.',
        }),
        description: Type.String({
          ...{ ...ONE_LINE, maxLength: 200 },
          description: 'The customer reads it in the ledger.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      const { amountCents, balanceAfterCents } = await adjust(service, {
        email: (params as { readonly id: string }).id,
        amountUsd: body.amount_usd,
        reason: body.description,
      });
      return {
        object: id === 'customers.credit' ? 'credit' : 'debit',
        amount_usd: centsToUsd(amountCents),
        balance_usd: centsToUsd(balanceAfterCents),
      };
    },
  });
}

export const CUSTOMER_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'customers.list',
    method: 'GET',
    path: '/customers',
    query: Type.Object(
      {
        search: Type.Optional(Type.String({ maxLength: 255 })),
        frozen: Type.Optional(Type.Literal('true')),
        tag: Type.Optional(Type.String({ maxLength: 40 })),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { search, frozen, tag, before, limit } }) => {
      const found = await listCustomersForOperator(service, {
        ...(search !== undefined && { search }),
        ...(before !== undefined && { before }),
        ...(frozen !== undefined && { frozen: true }),
        ...(tag !== undefined && { tag }),
        limit: pageSize(limit),
      });
      return listOf(found.customers, found.hasMore);
    },
  }),
  adminRoute({
    id: 'customers.get',
    method: 'GET',
    path: '/customers/{id}',
    run: ({ service, params }) => readCustomerForOperator(service, params.id),
  }),
  freezing('customers.freeze', '/customers/{id}/freeze', true),
  freezing('customers.unfreeze', '/customers/{id}/unfreeze', false),
  adminRoute({
    id: 'customers.ledger',
    method: 'GET',
    path: '/customers/{id}/ledger',
    query: Type.Object({ before: Type.Optional(Type.String()), limit: LIMIT }, CLOSED),
    run: async ({ service, params, query: { before, limit } }) => {
      const query = { ...(before !== undefined && { before }), limit: pageSize(limit) };
      const { entries, hasMore } = await readLedgerForOperator(service, params.id, query);
      return listOf(entries, hasMore);
    },
  }),
  adjusting('customers.credit', '/customers/{id}/credit', creditCustomer),
  adjusting('customers.debit', '/customers/{id}/debit', debitCustomer),
  adminRoute({
    id: 'customers.disable_totp',
    method: 'POST',
    path: '/customers/{id}/disable_totp',
    run: async ({ service, params }) => {
      const changed = await disableTotpByOperator(service, params.id);
      return { ...(await readCustomerForOperator(service, params.id)), changed };
    },
  }),
  adminRoute({
    id: 'customers.view',
    method: 'POST',
    path: '/customers/{id}/view',
    run: ({ service, params }) => viewAccount(service, params.id),
  }),
  adminRoute({
    id: 'customers.export',
    method: 'POST',
    path: '/customers/{id}/export',
    run: ({ service, params }) => openExport(service, params.id),
  }),
  adminRoute({
    id: 'customers.delete',
    method: 'POST',
    path: '/customers/{id}/delete',
    body: Type.Object(
      {
        destroy_servers: Type.Boolean({
          title: 'Delete the servers of the account, too',
          description: 'Without this, an account with servers is not deleted.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      const deletion = { destroyServers: body.destroy_servers };
      const { completed, forfeitedCents } = await deleteCustomer(service, params.id, deletion);
      return { object: 'customer_deletion', completed, forfeited_usd: centsToUsd(forfeitedCents) };
    },
  }),
];
