import type { Logger } from '../../../kernel/logger.ts';

export interface QemuOptions {
  /** Folder of everything that outlives a restart of this machine. */
  readonly dir: string;
  /** What this machine is called in the inventory. */
  readonly hosts: readonly string[];
  readonly accelerator: 'kvm' | 'tcg';
  /** Network namespace of the guests' side; null: the network of this machine. */
  readonly netns: string | null;
  readonly log: Logger;
}
