import type { Snapshot } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const SNAPSHOT_COLUMNS: readonly Column<Snapshot>[] = [
  { name: 'id', of: (snapshot) => snapshot.id },
  { name: 'name', of: (snapshot) => snapshot.name },
  { name: 'status', of: (snapshot) => snapshot.status },
  { name: 'size_gb', of: (snapshot) => snapshot.size_gb },
  { name: 'server', of: (snapshot) => snapshot.server, hidden: true },
  { name: 'expires_at', of: (snapshot) => time(snapshot.expires_at), hidden: true },
  { name: 'created_at', of: (snapshot) => time(snapshot.created_at) },
];
