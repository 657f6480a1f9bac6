import type { Volume } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const VOLUME_COLUMNS: readonly Column<Volume>[] = [
  { name: 'id', value: (volume) => volume.id },
  { name: 'name', value: (volume) => volume.name },
  { name: 'size_gb', value: (volume) => volume.size_gb },
  { name: 'region', value: (volume) => volume.region },
  { name: 'device', value: (volume) => volume.device },
  { name: 'attached_to', value: (volume) => volume.attached_to, hidden: true },
  { name: 'encrypted', value: (volume) => volume.encrypted, hidden: true },
  { name: 'filesystem', value: (volume) => volume.filesystem, hidden: true },
  { name: 'created_at', value: (volume) => formatTime(volume.created_at), hidden: true },
];
