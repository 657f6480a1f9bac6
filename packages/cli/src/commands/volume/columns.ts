import type { Volume } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const VOLUME_COLUMNS: readonly Column<Volume>[] = [
  { name: 'id', of: (volume) => volume.id },
  { name: 'name', of: (volume) => volume.name },
  { name: 'size_gb', of: (volume) => volume.size_gb },
  { name: 'region', of: (volume) => volume.region },
  { name: 'device', of: (volume) => volume.device },
  { name: 'attached_to', of: (volume) => volume.attached_to, hidden: true },
  { name: 'encrypted', of: (volume) => volume.encrypted, hidden: true },
  { name: 'filesystem', of: (volume) => volume.filesystem, hidden: true },
  { name: 'created_at', of: (volume) => time(volume.created_at), hidden: true },
];
