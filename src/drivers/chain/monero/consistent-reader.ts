/** Reads wallet and node while both are at the same newest block. */
import { NodeBehind } from '../cursor.ts';
import type { MoneroBlock, MoneroDaemon } from './daemon.ts';
import type { MoneroWallet } from './wallet.ts';

/** If the wallet is further behind than this, it catches up on its own; a refresh would only keep it busy. */
export const REFRESH_MAX_BLOCKS = 1000;
const MAX_ATTEMPTS = 3;

export class ConsistentReader {
  readonly #wallet: MoneroWallet;
  readonly #daemon: MoneroDaemon;
  /** The block that the wallet was last synced to. Syncing again costs little. */
  #syncedTo = '';

  constructor(wallet: MoneroWallet, daemon: MoneroDaemon) {
    this.#wallet = wallet;
    this.#daemon = daemon;
  }

  /**
   * Runs `read` with the wallet at the node's newest block, and again if that block changes in the meantime.
   */
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
    // After a reorganization the wallet keeps its old blocks until its node has overtaken them.
    if (height > tip.height) throw new NodeBehind(tip.height, height);
    if (height < tip.height) throw new WalletBehind(height, tip.height);
    this.#syncedTo = tip.hash;
  }
}

export class ChainChanged extends Error {
  override readonly name = 'ChainChanged';
  override readonly message = 'Monero: the chain changed during the read';
}

export class WalletBehind extends Error {
  override readonly name = 'WalletBehind';
  constructor(height: number, tipHeight: number) {
    super(`Monero: the wallet is at block ${height} of ${tipHeight}; waiting for it to catch up`);
  }
}

export class WalletMismatch extends Error {
  override readonly name = 'WalletMismatch';
  override readonly message =
    'Monero: the wallet has a payment in a block where the node does not have it. ' +
    'Make sure that the wallet uses this node';
}
