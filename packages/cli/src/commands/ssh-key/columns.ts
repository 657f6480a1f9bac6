import type { ListedSshKey, SshKey } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const LISTED_SSH_KEY_COLUMNS: readonly Column<ListedSshKey>[] = [
  { name: 'id', of: (key) => key.id },
  { name: 'name', of: (key) => key.name },
  { name: 'type', of: (key) => key.type },
  { name: 'fingerprint', of: (key) => key.fingerprint, hidden: true },
  { name: 'created_at', of: (key) => time(key.created_at) },
];

export const SSH_KEY_COLUMNS: readonly Column<SshKey>[] = [
  ...LISTED_SSH_KEY_COLUMNS,
  { name: 'public_key', of: (key) => key.public_key, hidden: true },
];
