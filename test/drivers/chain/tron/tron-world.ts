/** The service with TRX and USDT on Tron, and a stub node. */
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import { TronChain } from '../../../../src/drivers/chain/tron/driver.ts';
import type { TronCoin } from '../../../../src/drivers/chain/tron/payments.ts';
import type { OwnAddressLookup } from '../../../../src/ports/chain.ts';
import { findOwnAddresses } from '../../../../src/store/topups/addresses.ts';
import { type ChainFactory, ManualClock, TopupWorld } from '../../../support/topup-world.ts';
import { StubTron, USDT } from './stub-node.ts';

/** From the words `abandon … about`, the usual test vector of wallets. */
const SEED = hex.decode(
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1' +
    '9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
);
export const ACCOUNT = AccountKey.parse(HDKey.fromMasterSeed(SEED).derive("m/44'/195'/0'").publicExtendedKey);
export const NO_OWN_ADDRESSES: OwnAddressLookup = async () => new Set();

export function tronChain(
  stub: StubTron,
  coin: TronCoin,
  { own = NO_OWN_ADDRESSES, allowTest = false, contract = USDT } = {},
): TronChain {
  return new TronChain({ coin, node: stub.node, account: ACCOUNT, own, contract, allowTest });
}

/** Creates drivers over the same node and database, as new processes would. */
export function tronChains(stub: StubTron): ChainFactory {
  return ({ db }) =>
    new Map(
      (['TRX', 'USDTTRC'] as const).map((coin) => [
        coin,
        tronChain(stub, coin, { own: (addresses) => findOwnAddresses(db, coin, addresses) }),
      ]),
    );
}

export interface TronWorld {
  readonly world: TopupWorld;
  readonly stub: StubTron;
  close(): Promise<void>;
}

export async function startTron(): Promise<TronWorld> {
  // Block times follow the clock of the world, which always starts at the same time.
  let clock = new ManualClock();
  const stub = await StubTron.start(() => clock.now().getTime());
  stub.mine(40);
  const world = await TopupWorld.start({ chains: tronChains(stub) });
  clock = world.clock;
  return {
    world,
    stub,
    close: async () => {
      await world.close();
      await stub.close();
    },
  };
}
