/** Looks at wallet and node while both have the same newest block. */
import { NodeBehind } from '../node-behind.ts';
import type { MoneroBlock, MoneroDaemon } from './daemon.ts';
import type { MoneroWallet } from './wallet.ts';

/** Further behind, the wallet reads on by itself: asking it to would only keep it busy. */
export const REFRESH_MAX_BLOCKS = 1000;
const MAX_ATTEMPTS = 3;

export class ConsistentReader {
  readonly #wallet: MoneroWallet;
  readonly #daemon: MoneroDaemon;
  /** The block that the wallet was last brought to; to ask it once more costs little. */
  #syncedTo = '';

  constructor(wallet: MoneroWallet, daemon: MoneroDaemon) {
    this.#wallet = wallet;
    this.#daemon = daemon;
  }

  /** Runs `read` with the wallet at the node's newest block, again should that have changed meanwhile. */
  async read<T>(read: (tip: MoneroBlock) => Promise<T>): Promise<T> {
    let tip = await this.#daemon.tip();
    for (let tries = 1; ; tries++) {
      const outcome = await this.#attempt(read, tip);
      const now = await this.#daemon.tip();
      const isSteady = now.hash === tip.hash;
      if (isSteady && 'value' in outcome) return outcome.value;
      if (isSteady || tries === MAX_ATTEMPTS) throw 'error' in outcome ? outcome.error : new ChainChanged();
      tip = now;
    }
  }

  async #attempt<T>(
    read: (tip: MoneroBlock) => Promise<T>,
    tip: MoneroBlock,
  ): Promise<{ readonly value: T } | { readonly error: unknown }> {
    try {
      await this.#syncWallet(tip);
      return { value: await read(tip) };
    } catch (error) {
      return { error };
    }
  }

  async #syncWallet(tip: MoneroBlock): Promise<void> {
    if (this.#syncedTo === tip.hash) return;
    const before = await this.#wallet.height();
    if (tip.height - before > REFRESH_MAX_BLOCKS) throw new WalletBehind(before, tip.height);
    await this.#wallet.refresh();
    const height = await this.#wallet.height();
    // It keeps the blocks that its node had, until that has overtaken them.
    if (height > tip.height) throw new NodeBehind(tip.height, height);
    if (height < tip.height) throw new WalletBehind(height, tip.height);
    this.#syncedTo = tip.hash;
  }
}

export class ChainChanged extends Error {
  override readonly name = 'ChainMoved';
  override readonly message = 'Monero: the chain changed while it was read';
}

export class WalletBehind extends Error {
  override readonly name = 'WalletBehind';
  constructor(height: number, tipHeight: number) {
    super(`Monero: the wallet has read up to block ${height} of ${tipHeight}: it is waited for`);
  }
}

export class WalletMismatch extends Error {
  override readonly name = 'WalletDiffers';
  override readonly message =
    'Monero: the wallet has a payment in a block that the node does not have there: do both belong together?';
}
