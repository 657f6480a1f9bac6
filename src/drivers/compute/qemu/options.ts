import type { Logger } from '../../../kernel/logger.ts';

export interface QemuOptions {
  /** Folder for everything that must survive a restart of this machine. */
  readonly dir: string;
  /** Names of this machine in the inventory. */
  readonly hosts: readonly string[];
  readonly accelerator: 'kvm' | 'tcg';
  /** Network namespace of the guests' interfaces. Null: the default namespace of this machine. */
  readonly netns: string | null;
  readonly log: Logger;
}
