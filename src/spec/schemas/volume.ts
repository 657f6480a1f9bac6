/** Volume (SPEC "Volume (`vol_`)", DECISIONS "Volumes"). */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { PATTERNS } from '../patterns.ts';
import { ActionSummary } from './action.ts';
import {
  DisplayName,
  Id,
  Labels,
  nullable,
  Protection,
  ProtectionPatch,
  ShownLabels,
  Time,
} from './parts.ts';

const ENCRYPTED = {
  description:
    'Volume-level LUKS. The key is yours, and reaches the server through cloud-init. Fixed at creation.',
};
const FILESYSTEM = {
  description: 'For your own records: we do not format volumes.',
  examples: ['ext4'],
};

export const Volume = Type.Object({
  id: Id('vol_'),
  object: Type.Literal('volume'),
  name: Type.String(),
  size_gb: Type.Integer({ description: 'GiB. Can be increased online, never decreased.' }),
  region: Type.String({ description: 'Region of the servers that it can be attached to.' }),
  attached_to: nullable(Type.String({ description: 'Id of a server; null when detached.' })),
  device: nullable(
    Type.String({ description: 'Path of the block device while attached.', examples: ['/dev/vdb'] }),
  ),
  encrypted: Type.Boolean(ENCRYPTED),
  filesystem: nullable(Type.String(FILESYSTEM)),
  labels: ShownLabels,
  lost_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'When the machine was lost that had its data. A lost volume can only be deleted.',
    }),
  ),
  protection: Protection,
  action: nullable(ActionSummary),
  created_at: Time,
});
export type Volume = Static<typeof Volume>;

const sizeGb = Type.Integer({ minimum: LIMITS.volumeMinGb, maximum: LIMITS.volumeMaxGb });

export const VolumeBody = Type.Object(
  {
    name: DisplayName,
    size_gb: sizeGb,
    region: Type.String(),
    encrypted: Type.Optional(Type.Boolean(ENCRYPTED)),
    protection: Type.Optional(ProtectionPatch),
    filesystem: Type.Optional(
      nullable(
        Type.String({
          ...FILESYSTEM,
          minLength: 1,
          maxLength: LIMITS.nameMaxChars,
          pattern: PATTERNS.printable.pattern,
        }),
      ),
    ),
    labels: Type.Optional(Labels),
  },
  { additionalProperties: false },
);
export type VolumeBody = Static<typeof VolumeBody>;

export const VolumePatch = Type.Object(
  {
    name: Type.Optional(DisplayName),
    size_gb: Type.Optional(sizeGb),
    labels: Type.Optional(Labels),
    protection: Type.Optional(ProtectionPatch),
  },
  { additionalProperties: false },
);
export type VolumePatch = Static<typeof VolumePatch>;

export const AttachBody = Type.Object(
  { server: Type.String({ description: 'Id of a server in the same region.' }) },
  { additionalProperties: false },
);
export type AttachBody = Static<typeof AttachBody>;
