/** Faults in the ledger, in charges, and in orders. */
import type { Mutation } from './mutation.ts';

export const MONEY: readonly Mutation[] = [
  {
    name: 'a charge may take one cent more than the balance',
    file: 'src/store/ledger/ledger.ts',
    find: 'balance_cents + $delta >= 0)',
    replace: 'balance_cents + $delta >= -1)',
    caughtBy: {
      file: 'test/domain/ledger/transfer.test.ts',
      name: 'a charge above the balance is rejected and takes nothing',
    },
    budgetS: 20,
    figure: 'model',
  },
  {
    name: 'the fact of a transfer is not unique',
    file: 'src/store/migrations/0001_foundation.sql',
    find: 'fact text not null unique,',
    replace: 'fact text not null,',
    caughtBy: {
      file: 'test/domain/ledger/transfer.test.ts',
      name: 'concurrent credits for one fact are booked once',
    },
    budgetS: 30,
    figure: 'kills',
  },
  {
    name: 'a reversal fails when the customer has spent the money',
    file: 'src/domain/ledger/transfer.ts',
    find: "    true,\n  );\n  if (balanceAfterCents === undefined) throw new Error('account of",
    replace: "    false,\n  );\n  if (balanceAfterCents === undefined) throw new Error('account of",
    caughtBy: {
      file: 'test/domain/ledger/transfer.test.ts',
      name: 'a reversal may make the balance negative, and nothing can be bought until it is',
    },
    budgetS: 20,
    figure: 'chains',
  },
  {
    name: 'a transfer updates the balance by its amount without its sign',
    file: 'src/store/ledger/ledger.ts',
    find: 'row.credit_account === row.customer_id ? row.amount_cents : -row.amount_cents',
    replace: 'row.amount_cents',
    caughtBy: {
      file: 'test/domain/ledger/model.test.ts',
      name: 'after any history, the ledger matches a plain model',
    },
    budgetS: 30,
    figure: 'model',
  },
  {
    name: 'a deploy does not check the balance under its lock',
    file: 'src/store/servers/deploy.ts',
    find: 'where customer_id = $customer_id and balance_cents >= $price_cents_cycle',
    replace: 'where customer_id = $customer_id',
    caughtBy: {
      file: 'test/domain/servers/deploy/deploy-races.test.ts',
      name: 'a balance for seven servers buys exactly seven of sixty concurrent orders',
    },
    budgetS: 30,
    figure: 'deploys',
  },
  {
    name: 'a deploy counts one server too many as within the quota',
    file: 'src/store/servers/deploy.ts',
    find: 'and servers < ${ownLimitOr',
    replace: 'and servers <= ${ownLimitOr',
    caughtBy: {
      file: 'test/domain/servers/deploy/deploy-races.test.ts',
      name: 'a customer receives exactly as many servers as the quota allows',
    },
    budgetS: 30,
    figure: 'deploys',
  },
  {
    name: 'an order that fails is not refunded',
    file: 'src/domain/servers/deploy/give-up.ts',
    find: '  await refundFirstCycle(tx, server, refund, now);\n',
    replace: '',
    caughtBy: {
      file: 'test/domain/servers/operations/steps-twice.test.ts',
      name: 'takes effect once when its worker dies before the commit',
    },
    budgetS: 60,
    figure: 'steps',
  },
  {
    name: 'a renewal is booked under the number of the cycle before it',
    file: 'src/domain/servers/billing/charge.ts',
    find: 'const cycle = (await countCycles(tx, id)) + 1;',
    replace: 'const cycle = await countCycles(tx, id);',
    caughtBy: {
      file: 'test/domain/billing/renewals.test.ts',
      name: 'renewals missed during downtime happen cycle by cycle',
    },
    budgetS: 40,
    figure: 'kills',
  },
  {
    name: 'a balance above the sum of its transfers is not reported',
    file: 'src/domain/verify/money.ts',
    find: 'b.balance_cents <> coalesce(t.cents, 0)',
    replace: 'b.balance_cents < coalesce(t.cents, 0)',
    caughtBy: { file: 'test/domain/verify/verify.test.ts', name: 'verify reports a violation of ' },
    budgetS: 120,
    figure: 'kills',
    level: 'full',
  },
];
