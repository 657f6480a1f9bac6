/** Faults in payments: chains, confirmations, credits, and reversals. */
import type { Mutation } from './mutation.ts';

export const SETTLEMENT: readonly Mutation[] = [
  {
    name: 'a payment is credited one confirmation early',
    file: 'src/domain/topups/settlement/deposit.ts',
    find: 'deposit.agreed && deposit.confirmations >= required',
    replace: 'deposit.agreed && deposit.confirmations >= required - 1',
    caughtBy: {
      file: 'test/domain/topups/settlement/settle.test.ts',
      name: 'a larger total needs more confirmations, even above the invoiced amount',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'a payment that left its block keeps its credit',
    file: 'src/domain/topups/settlement/deposit.ts',
    find: 'if (!isInBlock(deposit.state) || deposit.confirmations < 1) return false;',
    replace: 'if (!isInBlock(deposit.state)) return true;',
    caughtBy: {
      file: 'test/domain/topups/settlement/reorg.test.ts',
      name: 'a credited payment dropped by a reorg is awaited',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'a payment in another block keeps its credit without confirmations',
    file: 'src/domain/topups/settlement/deposit.ts',
    find: 'return sameBlock || deposit.confirmations >= required;',
    replace: 'return sameBlock || deposit.confirmations >= 1;',
    caughtBy: {
      file: 'test/domain/topups/settlement/reorg.test.ts',
      name: 'a payment in another block with too few confirmations is reversed',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'a credit is reversed without its bonus',
    file: 'src/domain/topups/settlement/credits.ts',
    find: 'for (const transferId of topup.bonus_transfers) {',
    replace: 'for (const transferId of topup.bonus_transfers.slice(1)) {',
    caughtBy: {
      file: 'test/domain/topups/settlement/reorg.test.ts',
      name: 'a payment that returns to the mempool is reversed with its bonus, then credited',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'a payment credited again has the fact of its first credit',
    file: 'src/domain/topups/settlement/credits.ts',
    find: '${deposit.key}:${deposit.credits + 1}`',
    replace: '${deposit.key}:1`',
    caughtBy: {
      file: 'test/domain/topups/settlement/reorg.test.ts',
      name: 'a payment that returns to the mempool is reversed with its bonus, then credited',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'the tolerance for an underpayment is off by one',
    file: 'src/domain/topups/settlement/pricing.ts',
    find: 'units * 1_000n >= asked * (1_000n - LIMITS.topupTolerancePerMille)',
    replace: 'units * 1_000n >= asked * (1_001n - LIMITS.topupTolerancePerMille)',
    caughtBy: {
      file: 'test/domain/topups/settlement/settle.test.ts',
      name: 'an underpayment within half a percent counts as the full amount',
    },
    budgetS: 30,
    figure: 'chains',
  },
  {
    name: 'an observation is applied without the lease of its coin',
    file: 'src/domain/topups/settlement/change-deposits.ts',
    find: 'reading !== null && !(await holdsCoinLease(tx, coin, reading.leaseId))',
    replace: 'reading !== null && !coin',
    caughtBy: {
      file: 'test/workers/watch.test.ts',
      name: 'a process that lost its lease writes none of its observations',
    },
    budgetS: 40,
    figure: 'chains',
  },
  {
    name: 'a rewind stops one block above the fork',
    file: 'src/drivers/chain/block-walk.ts',
    find: 'if (fork !== null) return fork + 1;',
    replace: 'if (fork !== null) return fork + 2;',
    caughtBy: {
      file: 'test/drivers/chain/block-walk.test.ts',
      name: 'a rewind stops at the fork if the node still knows the orphaned branch',
    },
    budgetS: 20,
    figure: 'chains',
  },
  {
    name: 'a node behind the cursor is read like any other',
    file: 'src/drivers/chain/block-walk.ts',
    find: '    if (tip.height < readTo) throw new NodeBehind(tip.height, readTo);\n',
    replace: '',
    caughtBy: {
      file: 'test/drivers/chain/block-walk.test.ts',
      name: 'a walk waits for a node that was restored from a backup until it has caught up',
    },
    budgetS: 20,
    figure: 'chains',
  },
  {
    name: 'a payment that the second node lacks counts as agreed',
    file: 'src/drivers/chain/cross-checked.ts',
    find: "state: 'included', agreed: false };",
    replace: "state: 'included' };",
    caughtBy: {
      file: 'test/drivers/chain/cross-checked.test.ts',
      name: 'a payment that only the first node has is reported as not agreed',
    },
    budgetS: 20,
    figure: 'chains',
  },
  {
    name: 'two invoices are given the same deposit address',
    file: 'src/store/topups/coins.ts',
    find: 'do update set next_index = coins.next_index + 1\n  returning next_index - 1',
    replace: 'do update set next_index = coins.next_index\n  returning next_index - 1',
    caughtBy: { file: 'test/domain/topups/create.test.ts', name: '20 of 30 concurrent invoices are created' },
    budgetS: 30,
    figure: 'kills',
  },
  {
    name: 'the cursor is saved before its payments are applied',
    file: 'src/workers/read-chain.ts',
    find: 'const moved = cursor !== coin.cursor;',
    replace: [
      'const moved = cursor !== coin.cursor;',
      '  await saveCursor(service.db, coin.code, leaseId, { cursor, readAt: null });',
    ].join('\n'),
    caughtBy: {
      file: 'test/workers/watch.test.ts',
      name: 'a failed recheck keeps the cursor but applies what the poll reported',
    },
    budgetS: 40,
    figure: 'kills',
  },
];
