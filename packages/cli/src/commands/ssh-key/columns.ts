import type { ListedSshKey, SshKey } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const LISTED_SSH_KEY_COLUMNS: readonly Column<ListedSshKey>[] = [
  { name: 'id', value: (key) => key.id },
  { name: 'name', value: (key) => key.name },
  { name: 'type', value: (key) => key.type },
  { name: 'fingerprint', value: (key) => key.fingerprint, hidden: true },
  { name: 'created_at', value: (key) => formatTime(key.created_at) },
];

export const SSH_KEY_COLUMNS: readonly Column<SshKey>[] = [
  ...LISTED_SSH_KEY_COLUMNS,
  { name: 'public_key', value: (key) => key.public_key, hidden: true },
];
