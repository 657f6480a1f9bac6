/** Image (SPEC "Image"). */
import { type Static, Type } from 'typebox';
import { ActionSummary } from './action.ts';
import { nullable, oneOf } from './parts.ts';

export const IMAGE_TYPES = ['official', 'custom'] as const;
export const ARCHES = ['amd64', 'arm64'] as const;

const Day = Type.String({ format: 'date', examples: ['2025-08-09'] });

export const Image = Type.Object({
  id: Type.String({ description: 'Opaque: `img_…` is official, `custom_…` is uploaded.' }),
  object: Type.Literal('image'),
  type: oneOf(IMAGE_TYPES),
  name: nullable(Type.String({ description: 'Name of an uploaded image, if set.' })),
  family: Type.String({ description: '`custom` for uploads.', examples: ['debian'] }),
  version: Type.String(),
  variant: nullable(Type.String()),
  arch: Type.Array(oneOf(ARCHES)),
  size_gb: Type.Number({ description: 'GiB on disk.' }),
  cloud_init: Type.Boolean({ description: 'Whether it accepts user data.' }),
  released_at: Day,
  deprecated_at: nullable(
    Type.String({
      format: 'date',
      description: 'If set, new servers cannot use it, and it is removed 90 days after this date.',
    }),
  ),
  action: nullable(ActionSummary),
});
export type Image = Static<typeof Image>;
