import type { Snapshot } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const SNAPSHOT_COLUMNS: readonly Column<Snapshot>[] = [
  { name: 'id', value: (snapshot) => snapshot.id },
  { name: 'name', value: (snapshot) => snapshot.name },
  { name: 'status', value: (snapshot) => snapshot.status },
  { name: 'size_gb', value: (snapshot) => snapshot.size_gb },
  { name: 'server', value: (snapshot) => snapshot.server, hidden: true },
  { name: 'expires_at', value: (snapshot) => formatTime(snapshot.expires_at), hidden: true },
  { name: 'created_at', value: (snapshot) => formatTime(snapshot.created_at) },
];
