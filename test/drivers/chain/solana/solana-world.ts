/** The service with SOL, a stub node, and a pool of addresses. */
import { createHash } from 'node:crypto';
import { solanaAddress } from '../../../../src/drivers/chain/addresses.ts';
import { ed25519PublicKey } from '../../../../src/drivers/chain/simnet/networks.ts';
import { SolanaChain, type SolanaLimits } from '../../../../src/drivers/chain/solana/driver.ts';
import type { AddressPool } from '../../../../src/ports/chain.ts';
import { addToPool, createAddressPool } from '../../../../src/store/topups/addresses.ts';
import { type ChainFactory, ManualClock, TopupWorld } from '../../../support/topup-world.ts';
import { StubSolana } from './stub-node.ts';

/** Returns valid addresses, always the same for a name. */
export function walletAddresses(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    solanaAddress(ed25519PublicKey(createHash('sha256').update(`${name} ${i}`).digest())),
  );
}

export function solanaChains(stub: StubSolana, limits: Partial<SolanaLimits> = {}): ChainFactory {
  return ({ db, clock }) => {
    const pool = createAddressPool(db, 'SOL', clock);
    const now = () => clock.now();
    return new Map([['SOL', new SolanaChain({ node: stub.node, pool, allowTest: false, limits, now })]]);
  };
}

export interface SolanaWorld {
  readonly world: TopupWorld;
  readonly stub: StubSolana;
  readonly pool: AddressPool;
  /** Replaces the driver, as in a new process. */
  restart(): void;
  close(): Promise<void>;
}

export async function startSolana(
  options: { readonly addresses?: number; readonly limits?: Partial<SolanaLimits> } = {},
): Promise<SolanaWorld> {
  const { addresses = 20, limits = {} } = options;
  let clock = new ManualClock();
  const stub = await StubSolana.start(() => clock.now().getTime());
  const chains = solanaChains(stub, limits);
  const world = await TopupWorld.start({ chains });
  clock = world.clock;
  await addToPool(world.db, 'SOL', walletAddresses('pool', addresses), clock.now());
  return {
    world,
    stub,
    pool: createAddressPool(world.db, 'SOL', clock),
    restart: () => {
      for (const [coin, chain] of chains({ clock, db: world.db })) world.chains.set(coin, chain);
    },
    close: async () => {
      await world.close();
      await stub.close();
    },
  };
}
