/** Snapshot (SPEC "Snapshot (`snap_`)", DECISIONS "Snapshots"). */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { SNAPSHOT_STATUSES } from '../states.ts';
import { ActionSummary } from './action.ts';
import {
  DisplayName,
  Id,
  Labels,
  nullable,
  oneOf,
  Protection,
  ProtectionPatch,
  ShownLabels,
  Time,
} from './parts.ts';

export const SNAPSHOT_TYPES = ['manual', 'backup'] as const;

const EXPIRES = {
  ...Time,
  description:
    'When it is deleted automatically; null: never. A protected snapshot stays, and is deleted once its ' +
    'protection is lifted.',
};

export const Snapshot = Type.Object({
  id: Id('snap_'),
  object: Type.Literal('snapshot'),
  server: Type.String({ description: 'Id of the source server, which may be deleted by now.' }),
  region: Type.String(),
  name: Type.String(),
  size_gb: Type.Number({ description: 'GiB after deduplication; 0 until ready.' }),
  status: oneOf(SNAPSHOT_STATUSES),
  type: oneOf(SNAPSHOT_TYPES, { description: 'Backups are created on the schedule of their server.' }),
  labels: ShownLabels,
  expires_at: nullable(EXPIRES),
  protection: Protection,
  action: nullable(ActionSummary),
  created_at: Time,
});
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotBody = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LIMITS.nameMaxChars,
        description: 'Default: a name with the current time. Need not be unique.',
      }),
    ),
    expires_at: Type.Optional(nullable(EXPIRES)),
    labels: Type.Optional(Labels),
    protection: Type.Optional(ProtectionPatch),
  },
  { additionalProperties: false },
);
export type SnapshotBody = Static<typeof SnapshotBody>;

export const SnapshotPatch = Type.Object(
  {
    name: Type.Optional(DisplayName),
    expires_at: Type.Optional(nullable(EXPIRES)),
    labels: Type.Optional(Labels),
    protection: Type.Optional(ProtectionPatch),
  },
  { additionalProperties: false },
);
export type SnapshotPatch = Static<typeof SnapshotPatch>;
