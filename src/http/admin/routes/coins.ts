import { Type } from 'typebox';
import { systemActor } from '../../../domain/record.ts';
import {
  importAddresses,
  isPoolCoin,
  type PoolCoin,
  readAddresses,
} from '../../../domain/topups/addresses/pool.ts';
import { listSweep, type SweepQuery } from '../../../domain/topups/addresses/sweep.ts';
import { listCoinObjects, readCoinObject } from '../../../domain/topups/chains/describe.ts';
import { chainFindings } from '../../../domain/topups/chains/findings.ts';
import { rereadChain, skipAddresses } from '../../../domain/topups/chains/repair.ts';
import { recoverNumbers } from '../../../domain/topups/recovery.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { COIN_CODES, type CoinCode, isCoinCode } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

/** Less than the time limit of a read. */
const NODE_PATIENCE_MS = 2_000;
/** About 1,500 addresses. A longer file is imported on the command line. */
const IMPORT_MAX_CHARS = 80_000;

function requireCoin(name: string): CoinCode {
  if (!isCoinCode(name)) throw new OperatorError('no coin has this code');
  return name;
}

function requirePoolCoin(name: string): PoolCoin {
  const coin = requireCoin(name);
  if (!isPoolCoin(coin)) throw new OperatorError(`addresses of ${coin} are derived: import none`);
  return coin;
}

const READ_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'coins.list',
    method: 'GET',
    path: '/coins',
    run: async ({ service }) => listOf(await listCoinObjects(service), false),
  }),
  adminRoute({
    id: 'coins.get',
    method: 'GET',
    path: '/coins/{id}',
    run: ({ service, params }) => readCoinObject(service, params.id),
  }),
  adminRoute({
    id: 'nodes.check',
    method: 'GET',
    path: '/nodes',
    run: async ({ service }) => {
      const findings = await chainFindings(service, { patienceMs: NODE_PATIENCE_MS });
      return listOf(
        findings.map((row, index) => ({ object: 'finding', id: String(index), ...row })),
        false,
      );
    },
  }),
  adminRoute({
    id: 'paid_addresses.list',
    method: 'GET',
    path: '/paid_addresses',
    query: Type.Object(
      {
        coin: Type.Optional(Type.Enum([...COIN_CODES])),
        since: Type.Optional(
          Type.String({
            maxLength: 40,
            description: 'Only addresses that were paid since this day or time.',
          }),
        ),
        before: Type.Optional(Type.String({ maxLength: 60 })),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const filter = given(query) as Omit<SweepQuery, 'limit'>;
      const { addresses, more } = await listSweep(service, { ...filter, limit: pageSize(limit) });
      return listOf(addresses, more);
    },
  }),
];

export const COIN_ROUTES: readonly AdminRoute[] = [
  ...READ_ROUTES,
  adminRoute({
    id: 'coins.skip_addresses',
    method: 'POST',
    path: '/coins/{id}/skip_addresses',
    body: Type.Object(
      {
        count: Type.Integer({
          minimum: 1,
          maximum: LIMITS.addressSkipMax,
          title: 'Addresses',
          description: 'More than were given out since the backup.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body: { count } }) => {
      const order = { coin: requireCoin(params.id), count };
      await skipAddresses(service, systemActor(service.clock.now()), order);
      return await readCoinObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'coins.reread',
    method: 'POST',
    path: '/coins/{id}/reread',
    body: Type.Object(
      { height: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, title: 'First block' }) },
      CLOSED,
    ),
    run: async ({ service, params, body: { height } }) => {
      const order = { coin: requireCoin(params.id), height };
      await rereadChain(service, systemActor(service.clock.now()), order);
      return await readCoinObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'coins.import_addresses',
    method: 'POST',
    path: '/coins/{id}/import_addresses',
    body: Type.Object(
      {
        addresses: Type.String({
          maxLength: IMPORT_MAX_CHARS,
          title: 'Addresses',
          description: 'One per line, created offline. Never a private key.',
        }),
      },
      CLOSED,
    ),
    // A private key may be pasted in place of addresses.
    unlogged: ['addresses'],
    checkHeld: ({ params, body: { addresses } }) => {
      requirePoolCoin(params.id);
      readAddresses(addresses);
    },
    run: async ({ service, params, body: { addresses: text } }) => {
      const coin = requirePoolCoin(params.id);
      await importAddresses(service, systemActor(service.clock.now()), { coin, text });
      return await readCoinObject(service, coin);
    },
  }),
  adminRoute({
    id: 'coins.recover',
    method: 'POST',
    path: '/coins/{id}/recover',
    run: async ({ service, params }) => {
      await recoverNumbers(service);
      return await readCoinObject(service, params.id);
    },
  }),
];
